// The learning curve of one learner: its options, theory from coarse to fine, runs one by one.
import { ask, file, quick } from "./api.js";
import { Chart, Numbers } from "./chart.js";
import { choice, control, copy, field, h, save, say } from "./dom.js";

/** The end of the range of alpha that shows every step of a report. */
export function endOf(facts) {
  const open = (facts?.staircase ?? []).map((s) => s.alpha_self_consistent ?? s.alpha).filter((a) => a);
  return Number((1.6 * Math.max(1, ...open)).toPrecision(2));
}

/**
 * The card of a learner. `prefix` goes before the names of its values in the address, `target()`
 * gives the values of the target, `changed` hears of a step of the user.
 */
export function curveCard(declared, state, options) {
  const { learners, target, changed, signal, prefix = "", title = "Learning curve", defaults = {} } = options;
  const chart = new Chart(declared, title);
  const name = (word) => prefix + word;
  const get = (word) => state[name(word)] ?? "";
  const card = { numbers: new Numbers(), facts: null };
  const error = h("p", { class: "error", role: "alert" });
  const note = h("p", { class: "help" });
  const bar = h("span"), progress = h("div", { class: "progress", hidden: true }, bar);
  const head = h("h2", {}, title);
  const controls = h("div", {});
  const pick = h("div", { class: "row" });
  const stop = h("button", { type: "button", hidden: true, onclick: () => card.stop("Stopped.") }, "Stop");
  const run = h("button", { type: "button", class: "main", onclick: () => { state[name("run")] = "1"; changed(); card.simulate(); } }, "Run it");
  let work = new AbortController();
  signal.addEventListener("abort", () => work.abort());

  const learner = () => declared.learners.find((one) => one.name === get("learner")) ?? declared.learners.find((one) => one.name === learners[0]);
  const question = () => learner().questions.find((one) => one.name === get("question")) ?? learner().questions[0];

  /** Another learner has other fields and questions. */
  function forget() {
    const own = learner().options.filter((option) => option.section === "Learner").map((option) => option.name);
    for (const word of [...own, "question", "variable"]) delete state[name(word)];
  }

  /** Every value that is asked, with what the page chose where the user did not. */
  card.values = () => {
    const q = question(), found = { ...target() };
    const known = new Set(learner().options.map((option) => option.name));
    for (const key of Object.keys(found)) {
      if (known.has(`target-${key}`)) { found[`target-${key}`] = found[key]; delete found[key]; }
    }
    for (const option of learner().options) {
      if (option.section !== "Target" && get(option.name)) found[option.name] = get(option.name);
    }
    if (get("question")) found.question = get("question");
    if (q.axis) found[q.axis] = get(q.axis) || card.usual()[q.axis];
    if (q.simulate) {
      found.d = get("d") || card.usual().d;
      found.seeds = get("seeds") || card.usual().seeds;
      if (q.axis === "alpha") found.runs = get("runs") || card.usual().runs;
    }
    return found;
  };
  card.usual = () => {
    const end = defaults.end ?? endOf(card.facts);
    const time = defaults.time ?? "0:20:41";
    const from = (n) => Number((end / n).toPrecision(3));
    return { alpha: `${from(24)}:${end}:24`, runs: `${from(6)}:${end}:6`, d: "200", seeds: "3", time, ...defaults };
  };

  function fill() {
    const q = question(), usual = card.usual();
    const set = (word, text) => { state[name(word)] = text; changed(); card.refresh(); };
    const text = (word, label, help) => {
      const input = h("input", { type: "text", value: get(word), placeholder: usual[word], spellcheck: "false",
        "data-option": word, onchange: () => set(word, input.value.trim()) });
      return field(label, input, help);
    };
    const parts = [
      field("Learner", choice(learners.map((one) => [one, one]), learner().name, (word) => {
        forget();
        set("learner", word);
      }), learner().title),
    ];
    if (learner().questions.length > 1) {
      parts.push(field("Question", choice(learner().questions.map((one) => [one.name, one.name]), q.name, (word) => set("question", word)), q.help));
    }
    if (q.axis === "alpha") parts.push(text("alpha", "Theory at α = n / d", "from:to:points"));
    if (q.axis === "time") parts.push(text("time", "Times (steps / d)", "from:to:points"));
    if (q.simulate) {
      if (q.axis === "alpha") parts.push(text("runs", "Runs at α = n / d", "from:to:points"));
      parts.push(text("d", "Dimension d of the runs", ""), text("seeds", "Seeds", "a number, or x,y,z"));
    }
    const more = learner().options.filter((option) => option.section === "Learner" ||
      (option.section === "Question" && !["alpha", "time", "d"].includes(option.name)));
    const chosen = more.filter((option) => get(option.name)).map((option) => `${option.name.replaceAll("-", " ")} ${get(option.name)}`);
    head.textContent = [title, [...(prefix ? [learner().name] : []), ...chosen].join(", ")].filter(Boolean).join(": ");
    controls.replaceChildren(h("div", { class: "fields" }, parts),
      more.length ? h("details", {}, h("summary", {}, `Settings of ${learner().name}`),
        h("div", { class: "fields" }, more.map((option) => control(option, get(option.name), set)))) : "");
    run.hidden = !q.simulate;
  }

  function draw() {
    const names = card.numbers.variables;
    const chosen = names.includes(get("variable")) ? get("variable") : names[0];
    if (!chosen) return;
    if (pick.dataset.names !== names.join()) {
      pick.dataset.names = names.join();
      pick.replaceChildren(field("What is drawn", choice(names.map((one) => [one, one.replaceAll("_", " ")]), chosen,
        (word) => { state[name("variable")] = word; changed(); draw(); }), " "));
    }
    pick.querySelector(".help").textContent = declared.observables[chosen].meaning;
    chart.draw(card.numbers, chosen);
  }

  function told(event) {
    if (event.note) note.textContent = event.note;
    for (const [key, at] of Object.entries(event.thresholds ?? {})) card.numbers.thresholds[key] = at;
  }

  async function stream(verb, side, hear) {
    const mine = work.signal;
    head.classList.add("busy");
    stop.hidden = false;
    for await (const event of ask(verb, card.values(), learner().name, mine)) {
      if (mine.aborted) return false;
      if (event.event === "error") { error.textContent = event.sentence; break; }
      if (event.curves) {
        const before = card.numbers.sketched;
        card.numbers.hear(side, event);
        if (card.numbers.sketched) note.textContent = "A first sketch of one point; the bar is its error.";
        else if (before) note.textContent = "";
        told(event);
        draw();
      }
      if (event.event === "result") card[side] = event.key;
      hear?.(event);
    }
    if (mine.aborted) return false;
    head.classList.remove("busy");
    stop.hidden = true;
    return !error.textContent;
  }

  card.stop = (sentence = "") => {
    work.abort();
    work = new AbortController();
    head.classList.remove("busy");
    stop.hidden = progress.hidden = true;
    if (sentence) say(sentence);
  };
  card.simulate = async () => {
    progress.hidden = false;
    bar.style.width = "0";
    card.numbers.runs = {};
    error.textContent = "";
    const sound = await stream("simulate", "runs", (event) => {
      if (event.runs) bar.style.width = `${(100 * (event.done ?? 0)) / event.runs}%`;
    });
    if (sound) { progress.hidden = true; say("The runs are finished."); chart.element.dataset.runs = "yes"; }
  };
  /** Ask again, with the facts that are known by now. */
  card.refresh = async (facts = card.facts) => {
    card.facts = facts;
    card.stop();
    card.numbers = new Numbers();
    card.theory = card.runs = undefined;
    delete chart.element.dataset.runs;
    error.textContent = note.textContent = "";
    fill();
    if (!target().expression) return;
    if (question().predict) {
      chart.element.dataset.theory = "no";
      if (await stream("predict", "theory")) { chart.element.dataset.theory = "yes"; say("The theory is drawn."); }
      else if (!error.textContent) return;
    } else note.textContent = question().reason;
    if (get("run") === "1" && question().simulate) { error.textContent = ""; await card.simulate(); }
  };
  const words = async (which, what) => {
    const answer = await quick("words", card.values(), learner().name);
    if (answer.event === "error") error.textContent = answer.sentence;
    else { shown.textContent = answer[which]; shown.hidden = false; await copy(answer[which], what); }
  };
  const download = async (kind) => {
    try {
      const chosen = card.numbers.variables.includes(get("variable")) ? get("variable") : card.numbers.variables[0];
      const found = await file({ kind, theory: card.theory ?? "", runs: card.runs ?? "", variable: chosen ?? "" });
      save(found, `${learner().name}.${kind}`);
    } catch (problem) { error.textContent = problem.message; }
  };
  const shown = h("pre", { hidden: true, tabindex: "0", "aria-label": "What was copied" });
  const button = (label, action) => h("button", { type: "button", class: "small", onclick: action }, label);
  card.chart = chart;
  card.element = h("section", { class: "card" }, head, controls,
    h("div", { class: "row" }, run, stop), progress, error, pick, chart.element, note,
    h("div", { class: "row" },
      button("Copy as Python", () => words("python", "Python")),
      button("Copy as command line", () => words("command", "Command line")),
      button("CSV", () => download("csv")), button("NetCDF", () => download("nc")),
      button("SVG", () => download("svg")), button("PDF", () => download("pdf"))), shown);
  fill();
  return card;
}
