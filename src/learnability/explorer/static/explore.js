// One target: is it learnable, and what is the learning curve? Also for trees and structured inputs.
import { curveCard } from "./curve.js";
import { factsCard } from "./facts.js";
import { h, later } from "./dom.js";
import { read, write } from "./state.js";
import { targetCard } from "./target.js";

function assemble(declared, signal, about) {
  const state = { ...about.start, ...read() };
  const facts = factsCard(signal);
  const target = targetCard(declared, state, edited, signal, about);
  const kinds = (one) => one.targets.includes(about.kind) && (!about.structured || one.inputs.length > 1);
  const learners = declared.learners.filter(kinds).map((one) => one.name);
  const first = learners.includes(about.first) ? [about.first, ...learners.filter((one) => one !== about.first)] : learners;
  const curve = curveCard(declared, state, {
    learners: first, target: target.values, signal, changed: () => write(state), defaults: about.defaults,
  });
  let before = "";
  const compute = later(350, async () => {
    if (signal.aborted || !target.parsed) return;
    const values = target.values(), key = JSON.stringify(values);
    if (key === before) return;
    before = key;
    curve.stop();
    const found = await facts.ask(values);
    if (!signal.aborted && before === key) await curve.refresh(found);
  });
  function edited(final, parsed) {
    write(state, final);
    if (parsed) compute();
  }
  write(state, false);
  target.parse();
  return [
    h("h1", {}, about.title), h("p", { class: "lead" }, about.lead),
    target.element, h("div", { class: "columns" }, facts.element, curve.element),
  ];
}

export function explorePage(declared, signal) {
  return assemble(declared, signal, {
    title: "Can this function be learned?",
    lead: "Type a function of a few hidden directions. The page says how many samples it takes, by which algorithm, and shows runs landing on the theory.",
    start: { expression: "sign(z1*z2)" }, names: ["noise"], kind: "multi-index", first: "bayes-amp",
  });
}

export function depthPage(declared, signal) {
  return assemble(declared, signal, {
    title: "What does depth buy?",
    lead: "A hierarchical target: a function of features, which are themselves polynomials of groups of directions. Layer by layer, how many samples does each stage take?",
    start: { expression: "tanh(z)" }, always: { depth: "3" }, names: ["noise", ...declared.tree], kind: "hierarchical", first: "layerwise",
    defaults: { d: "30", alpha: "2:200:8", runs: "2:200:4", seeds: "2" },
    examples: ["tanh(z)", "z1*z2", "He2(z)"],
  });
}

export function structuredPage(declared, signal) {
  const own = Object.values(declared.inputs).flat();
  return assemble(declared, signal, {
    title: "What do structured inputs change?",
    lead: "Inputs with a spike, with a power-law spectrum, or of signs. Choose their law and its strength, and compare learners that accept it.",
    start: { expression: "He3(z)", inputs: "spiked", spike: "2" }, names: ["noise", "inputs", ...own],
    kind: "multi-index", structured: true, first: "online-sgd", examples: ["He3(z)", "z", "z1*z2"],
    defaults: { d: "200" },
  });
}
