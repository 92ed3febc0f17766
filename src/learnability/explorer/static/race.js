// Two to four learners on one target, side by side.
import { curveCard } from "./curve.js";
import { h, later } from "./dom.js";
import { factsCard } from "./facts.js";
import { read, write } from "./state.js";
import { targetCard } from "./target.js";

const MOST = 4;
const START = { expression: "He3(z)", learners: "2", "1.learner": "online-sgd", "2.learner": "online-sgd", "2.rule": "repetition", "1.time": "0:40:41", "2.time": "0:40:41" };

export function page(declared, signal) {
  const given = read();
  const state = Object.keys(given).length ? given : { ...START };
  const learners = declared.learners.filter((one) => one.targets.includes("multi-index") && one.inputs.includes("isotropic")).map((one) => one.name);
  const lanes = h("div", { class: "columns" });
  const facts = factsCard(signal);
  let cards = [], before = "";
  const target = targetCard(declared, state, edited, signal, { names: ["noise"] });
  const count = () => Math.min(MOST, Math.max(2, Number(state.learners) || 2));
  function lay() {
    cards.forEach((card) => card.stop());
    cards = Array.from({ length: count() }, (_, k) => {
      state[`${k + 1}.learner`] ||= learners[k % learners.length];
      return curveCard(declared, state, {
        learners, target: target.values, signal, prefix: `${k + 1}.`, title: `Lane ${k + 1}`,
        changed: () => write(state), defaults: { time: "0:40:41" },
      });
    });
    lanes.replaceChildren(...cards.map((card) => card.element));
    more.disabled = count() === MOST;
    fewer.disabled = count() === 2;
  }
  const set = (number) => { state.learners = String(number); write(state); lay(); before = ""; compute(); };
  const more = h("button", { type: "button", onclick: () => set(count() + 1) }, "Add a learner");
  const fewer = h("button", { type: "button", onclick: () => set(count() - 1) }, "Remove one");
  const all = h("button", { type: "button", class: "main", onclick: () => {
    cards.forEach((card, k) => { state[`${k + 1}.run`] = "1"; card.simulate(); });
    write(state);
  } }, "Run all");
  const compute = later(350, async () => {
    const key = JSON.stringify(target.values());
    if (signal.aborted || !target.parsed || key === before) return;
    before = key;
    const found = await facts.ask(target.values());
    if (!signal.aborted && before === key) cards.forEach((card) => card.refresh(found));
  });
  function edited(final, parsed) {
    write(state, final);
    if (parsed) compute();
  }
  lay();
  write(state, false);
  target.parse();
  return [
    h("h1", {}, "Race learners on one function"),
    h("p", { class: "lead" }, "The same target for everybody. At first: plain one-pass SGD beside SGD that uses every sample twice, on He3."),
    target.element, h("div", { class: "row" }, all, more, fewer), h("br"), lanes, facts.element,
  ];
}
