// The report of a target: facts, the staircase, tables; the numbers are those of to_dict().
import { ask } from "./api.js";
import { copy, h, table, withError } from "./dom.js";
import { staircase } from "./staircase.js";

const KINDS = {
  trivial: "any ratio n / d will do for the best algorithm",
  easy: "a finite ratio n / d will do for the best algorithm",
  hard: "no finite ratio n / d is known to be enough",
};

export function factsOf(facts) {
  const rows = [];
  if ("kind" in facts) rows.push(["Class", facts.kind ?? "?", KINDS[facts.kind] ?? ""]);
  if ("alpha_c" in facts) {
    const [shown, error] = withError(facts.alpha_c, facts.alpha_c_error);
    const known = facts.alpha_c === null && facts.kind === "hard" ? "∞" : shown;
    rows.push([["Threshold α", h("sub", {}, "c"), " = n / d"], known, error]);
  }
  if ("information_exponent" in facts) rows.push(["Information exponent", facts.information_exponent ?? "?", "sets the cost on fresh samples"]);
  if ("generative_exponent" in facts) rows.push(["Generative exponent", facts.generative_exponent ?? "?", "sets the cost when samples repeat"]);
  if ("leap" in facts) rows.push(["Leap", facts.leap ?? "?", "sets the cost of all directions"]);
  if ("compositional_exponent" in facts) rows.push(["Compositional exponent", facts.compositional_exponent ?? "?", ""]);
  if ("function_leap" in facts) rows.push(["Leap of the functions", facts.function_leap ?? "?", ""]);
  return h("dl", { class: "facts" }, rows.map(([name, value, more]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, String(value), more ? h("small", {}, more) : null))));
}

export function factsCard(signal) {
  const body = h("div", { "aria-live": "polite" });
  const title = h("h2", {}, "Can it be learned?");
  const error = h("p", { class: "error", role: "alert" });
  const card = { facts: null, element: h("section", { class: "card", id: "facts" }, title, body, error) };
  let control = new AbortController(), before = "";
  signal.addEventListener("abort", () => control.abort());
  card.ask = async (values) => {
    const key = JSON.stringify(values);
    if (key === before) return card.facts;
    before = key;
    control.abort();
    control = new AbortController();
    const mine = control.signal;
    title.classList.add("busy");
    error.textContent = "";
    card.facts = null;
    const wait = (sentence) => h("p", { class: "quiet" }, sentence);
    body.replaceChildren(wait("Computing exponents and thresholds …"));
    delete body.dataset.estimates;
    for await (const event of ask("hardness", values, "", mine)) {
      if (mine.aborted) return null;
      if (event.event === "error") { error.textContent = event.sentence; body.replaceChildren(); before = ""; }
      if (event.event === "estimate") {
        body.replaceChildren(factsOf(event), wait("The threshold is being refined; exponents and the staircase follow …"));
        body.dataset.estimates = `${body.dataset.estimates ?? ""}${event.alpha_c_error} `;
      }
      if (event.event === "result") { card.report = event; card.facts = event.facts; fill(event); }
    }
    if (!mine.aborted) title.classList.remove("busy");
    return card.facts;
  };
  function fill(report) {
    const { facts } = report;
    const folded = report.tables.slice(1).map(({ caption, head, rows }) =>
      h("details", {}, h("summary", {}, caption), table(head, rows, caption)));
    const notes = [...(facts.notes ?? []), ...(facts.undecided ?? []).map((name) => `Undecided: ${name}.`)];
    if (notes.length) folded.push(h("details", {}, h("summary", {}, "Notes"), notes.map((note) => h("p", {}, note))));
    const needed = folded.find((one) => one.firstChild.textContent === "Samples needed");
    if (needed) needed.open = true;
    body.replaceChildren(factsOf(facts),
      "staircase" in facts ? staircase(facts) : "", ...folded,
      h("div", { class: "row" },
        h("button", { type: "button", class: "small", onclick: () => copy(report.bibtex, "BibTeX") }, "Copy BibTeX"),
        h("button", { type: "button", class: "small", onclick: () => copy(report.latex, "LaTeX") }, "Copy LaTeX tables")));
    body.dataset.facts = JSON.stringify(facts);
  }
  return card;
}
