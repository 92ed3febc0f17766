// Several functions side by side: their facts and their staircases.
import { ask, quick } from "./api.js";
import { field, formulaPlace, h, later, markup } from "./dom.js";
import { factsOf } from "./facts.js";
import { staircase } from "./staircase.js";
import { read, write } from "./state.js";

export function page(declared, signal) {
  const state = { links: "sign(z1*z2)\nHe3(z)\nz1**2 + sign(z1*z2*z3)", ...read() };
  const cards = h("ul", { class: "cards" });
  const input = h("textarea", { rows: "5", spellcheck: "false", class: "formula", value: state.links,
    oninput: () => soon(), onchange: () => { state.links = input.value; write(state); } });
  const noise = h("input", { type: "text", inputmode: "decimal", value: state.noise ?? "", placeholder: "0",
    onchange: () => { state.noise = noise.value.trim(); write(state); fill(); } });
  let work = new AbortController();
  signal.addEventListener("abort", () => work.abort());
  const soon = later(500, () => { state.links = input.value; write(state, false); fill(); });

  function fill() {
    work.abort();
    work = new AbortController();
    const links = input.value.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, 12);
    cards.replaceChildren(...links.map((link) => one(link, work.signal)));
  }
  function one(link, mine) {
    const typeset = formulaPlace();
    const body = h("div", {}, h("p", { class: "quiet" }, "Computing …"));
    const error = h("p", { class: "error", role: "alert" });
    const values = { expression: link, ...(state.noise ? { noise: state.noise } : {}) };
    (async () => {
      const parsed = await quick("parse", values, "", mine).catch(() => null);
      if (!parsed) return;
      if (parsed.event === "error") { error.textContent = parsed.sentence; body.replaceChildren(); return; }
      typeset.replaceChildren(markup(parsed.mathml));
      for await (const event of ask("hardness", values, "", mine)) {
        if (event.event === "error") { error.textContent = event.sentence; body.replaceChildren(); }
        if (event.event === "result") body.replaceChildren(factsOf(event.facts), staircase(event.facts));
      }
    })();
    return h("li", { class: "card", "data-link": link }, typeset, body, error,
      h("div", { class: "row" }, h("a", { class: "button", href: `explore?${new URLSearchParams(values)}` }, "Explore it")));
  }
  write(state, false);
  fill();
  return [
    h("h1", {}, "Compare functions"),
    h("p", { class: "lead" }, "One function per line, at most twelve."),
    h("section", { class: "card" }, h("div", { class: "asked" }, field("Functions", input), field("Label noise (variance Δ)", noise))),
    cards,
  ];
}
