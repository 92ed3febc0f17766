// The catalogue of the literature as cards, each with its facts, and its curve when it is asked for.
import { ask } from "./api.js";
import { Chart, Numbers } from "./chart.js";
import { endOf } from "./curve.js";
import { formulaPlace, h, markup } from "./dom.js";
import { factsOf } from "./facts.js";

export function page(declared, signal) {
  const waiting = Object.fromEntries(declared.catalogue.map(({ name, about }) => [name,
    h("li", { class: "card" }, h("h2", {}, name), h("p", { class: "quiet" }, about), h("p", { class: "quiet" }, "Computing …"))]));
  const cards = h("ul", { class: "cards" }, Object.values(waiting));
  const error = h("p", { class: "error", role: "alert" });
  const left = h("p", { class: "quiet busy" }, "Computing the facts of every card …");
  (async () => {
    for await (const event of ask("catalogue", {}, "", signal)) {
      if (event.event === "error") error.textContent = event.sentence;
      if (event.event === "card") waiting[event.name].replaceWith(card(declared, event, signal));
    }
    left.remove();
  })();
  return [
    h("h1", {}, "The functions of the literature"),
    h("p", { class: "lead" }, "Each card is a function that a paper studies; its numbers are computed now, by the general code."),
    error, left, cards,
  ];
}

function card(declared, about, signal) {
  const values = { expression: about.text, ...(about.noise ? { noise: String(about.noise) } : {}) };
  const place = h("div", {});
  const button = h("button", { type: "button", class: "small", onclick: () => curve() }, "Draw its curve");
  async function curve() {
    button.disabled = true;
    const chart = new Chart(declared, `Learning curve of ${about.name}`), numbers = new Numbers();
    const end = endOf(about.facts);
    place.replaceChildren(chart.element);
    const asked = { ...values, alpha: `${Number((end / 12).toPrecision(3))}:${end}:12` };
    for await (const event of ask("predict", asked, "bayes-amp", signal)) {
      if (event.event === "error") place.replaceChildren(h("p", { class: "error" }, event.sentence));
      if (!event.curves) continue;
      numbers.hear("theory", event);
      Object.assign(numbers.thresholds, event.thresholds);
      chart.draw(numbers, numbers.variables[0]);
    }
  }
  return h("li", { class: "card", "data-name": about.name },
    h("h2", {}, about.name), h("p", { class: "quiet" }, about.about),
    formulaPlace({}, markup(about.mathml)), factsOf(about.facts), place,
    h("div", { class: "row" }, button,
      h("a", { class: "button small", href: `explore?${new URLSearchParams(values)}` }, "Explore it")));
}
