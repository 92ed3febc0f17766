// A store on this machine, watched while it fills.
import { ask } from "./api.js";
import { Chart, Numbers } from "./chart.js";
import { field, h } from "./dom.js";
import { read, write } from "./state.js";

export function page(declared, signal) {
  const state = read();
  const error = h("p", { class: "error", role: "alert" });
  const chart = new Chart(declared, "Runs of the study");
  const told = h("pre", { tabindex: "0", "aria-label": "The store in words", hidden: true });
  const list = h("div", {}), card = h("section", { class: "card", hidden: true }, list, chart.element, told);
  let work = new AbortController();
  signal.addEventListener("abort", () => work.abort());
  const input = h("input", { type: "text", value: state.store ?? "", placeholder: "runs.study", spellcheck: "false",
    onchange: () => { state.store = input.value.trim(); write(state); watch(); } });
  async function watch() {
    work.abort();
    work = new AbortController();
    error.textContent = "";
    card.hidden = true;
    const mine = work.signal;
    for await (const event of ask("study", { store: state.store }, "", mine)) {
      if (mine.aborted) return;
      if (event.event === "error") error.textContent = event.sentence;
      if (event.event === "state") shown(event);
    }
  }
  function shown(event) {
    card.hidden = told.hidden = false;
    told.textContent = event.text;
    list.replaceChildren(h("h2", {}, event.name), ...event.studies.map((study) => {
      const bar = h("span");
      bar.style.width = `${(100 * study.done) / Math.max(study.runs, 1)}%`;
      return h("div", {}, h("p", {}, `Study ${study.number}: ${study.done} of ${study.runs} runs finished, ${study.failed} failed`),
        h("div", { class: "progress" }, bar));
    }));
    const numbers = new Numbers();
    numbers.add("runs", event.curves, true);
    if (numbers.variables.length) chart.draw(numbers, numbers.variables[0]);
  }
  if (state.store) watch();
  return [
    h("h1", {}, "Watch a study"),
    h("p", { class: "lead" }, "Give the file of learnability simulate --store; the page follows while it fills, and only reads it."),
    h("section", { class: "card" }, field("The store of a study on this machine", input, "Its path; ~ is your home."), error), card,
  ];
}
