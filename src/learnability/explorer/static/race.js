// Two to four learners on one target, side by side.
import { curveCard } from "./curve.js";
import { h, later } from "./dom.js";
import { factsCard } from "./facts.js";
import { read, write } from "./state.js";
import { targetCard } from "./target.js";

const MOST = 4;
/** One neuron on the sphere, whose sign is such that it finds the direction and not its opposite. */
const NEURON = { learner: "online-sgd", activation: "relu(-z)", loss: "correlation", step: "0.2", spherical: "true", time: "0:60:31", d: "3000" };
const lane = (number, values) => Object.fromEntries(Object.entries(values).map(([name, text]) => [`${number}.${name}`, text]));
const START = { expression: "He3(z)", learners: "2", ...lane(1, NEURON), ...lane(2, { ...NEURON, rule: "extragradient", "look-ahead": "1" }) };

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
    h("p", { class: "lead" }, "The same target for everybody. At first He3: a neuron whose steps use every sample once beside one whose steps look ahead on the same sample (extragradient), so that it is used twice. Run both: the first stays at chance, the second finds the direction."),
    target.element, h("div", { class: "row" }, all, more, fewer), h("br"), lanes, facts.element,
  ];
}
