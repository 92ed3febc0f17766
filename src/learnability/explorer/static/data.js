// A table of one's own: which few combinations of columns does the target depend on?
import { askTable } from "./api.js";
import { choice, field, h, save, say, short, svg, table } from "./dom.js";
import { read, write } from "./state.js";

export function page(declared, signal) {
  const state = read();
  const result = h("div", {}), setup = h("div", {});
  const error = h("p", { class: "error", role: "alert" });
  const picker = h("input", { type: "file", id: "table-file", accept: ".csv,.tsv,.txt,.parquet,.gz,.bz2,.xz",
    onchange: () => picker.files[0] && open(picker.files[0]) });
  const zone = h("div", { class: "drop",
    ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
    } },
    h("p", {}, h("strong", {}, "Drop a table here"), " (CSV or Parquet), or choose one"),
    field("A table on this machine", picker),
    h("p", { class: "help" }, "It is read by a process on this machine and is not kept."));
  let work = new AbortController();
  signal.addEventListener("abort", () => work.abort());

  async function open(file) {
    work.abort();
    work = new AbortController();
    error.textContent = "";
    result.replaceChildren();
    setup.replaceChildren(h("p", { class: "quiet busy" }, `Reading ${file.name} …`));
    if (file.size > declared.limits.upload) {
      setup.replaceChildren();
      error.textContent = `${file.name} has ${(file.size / 2 ** 20).toFixed(0)} MB, but at most ${declared.limits.upload / 2 ** 20} MB are accepted: use learnability fit.`;
      return;
    }
    for await (const event of askTable("columns", file, {}, work.signal)) {
      if (event.event === "error") { error.textContent = event.sentence; setup.replaceChildren(); }
      if (event.event === "result") prepare(file, event);
    }
  }

  function prepare(file, about) {
    const names = about.columns.map((column) => column.name);
    const last = names.includes(state.target) ? state.target : names[names.length - 1];
    const value = { target: last, components: state.components || "auto", drop: state.drop || "", missing: state.missing || "refuse" };
    const set = (name) => (text) => { value[name] = text.trim(); state[name] = text.trim(); write(state); };
    const input = (name, shown) => h("input", { type: "text", value: value[name], placeholder: shown, onchange: (event) => set(name)(event.target.value) });
    const go = h("button", { type: "button", class: "main", onclick: () => fit(file, value, go) }, "Find the directions");
    setup.replaceChildren(h("section", { class: "card" },
      h("h2", {}, `${file.name}: ${about.rows} rows, ${names.length} columns`),
      about.notes.map((note) => h("p", { class: "help" }, note)),
      h("div", { class: "fields" },
        field("The column to explain", choice(names, last, set("target"))),
        field("Number of directions", input("components", "auto"), "auto, or a whole number"),
        field("Columns to leave out", input("drop", "none"), "names between commas"),
        field("Missing values", choice(["refuse", "impute"], value.missing, set("missing")))),
      h("div", { class: "row" }, go)));
    say(`${file.name} has ${about.rows} rows.`);
    setup.querySelector("select").focus();
  }

  async function fit(file, value, button) {
    button.disabled = true;
    error.textContent = "";
    result.replaceChildren(h("p", { class: "quiet busy" }, "Looking for directions: this takes some seconds to minutes …"));
    const stop = h("button", { type: "button", onclick: () => { work.abort(); work = new AbortController(); result.replaceChildren(); button.disabled = false; } }, "Stop");
    result.append(stop);
    const values = Object.fromEntries(Object.entries(value).filter(([, text]) => text));
    for await (const event of askTable("fit", file, values, work.signal)) {
      if (event.event === "error") { error.textContent = event.sentence; result.replaceChildren(); }
      if (event.event === "result") {
        const more = h("button", { type: "button", onclick: () => fit(file, { ...value, compare: "yes" }, button) }, "What would more rows bring?");
        result.replaceChildren(...shown(event, value.target, value.compare ? null : more));
        say("The directions are found.");
      }
    }
    button.disabled = false;
  }

  return [
    h("h1", {}, "What does your table depend on?"),
    h("p", { class: "lead" }, "Drop a table, choose the column to explain, and see the few combinations of columns that it depends on, whatever the function."),
    h("section", { class: "card" }, zone, error), setup, result,
  ];
}

function shown(found, target, more) {
  const parts = [h("section", { class: "card", id: "directions", "data-directions": found.directions },
    h("h2", {}, found.directions ? `${found.directions} direction${found.directions > 1 ? "s" : ""}` : "No direction was found"),
    h("pre", { class: "wrapped", tabindex: "0", "aria-label": "The report" }, found.text),
    more ? h("div", { class: "row" }, more) : null,
    found.forecast ? h("h3", {}, "What more rows would bring") : null,
    found.forecast ? table(["rows", "score of predictions", "between"], found.forecast.rows.map((rows, k) => {
      const [value, low, high] = found.forecast.score[k];
      return [rows, value.toFixed(2), `${low.toFixed(2)} and ${high.toFixed(2)}`];
    }), "What more rows would bring") : null)];
  const cards = found.weights.map((weights, k) => h("section", { class: "card" },
    h("h2", {}, `Direction ${k + 1}`),
    scatter(found.points.coordinates[k], found.points.target, `direction ${k + 1}`, target),
    h("p", { class: "help" }, "Standardised weights, the largest first; the lines are 90 % intervals."),
    bars(found.columns, weights, found.errors[k]),
    h("details", {}, h("summary", {}, "Weights"),
      table(["column", "weight", "standard error"], found.columns.map((name, j) => [name, weights[j].toFixed(4), found.errors[k][j].toFixed(4)]), `Weights of direction ${k + 1}`))));
  parts.push(h("div", { class: "columns" }, cards));
  const csv = [["direction", ...found.columns], ...found.weights.map((row, k) => [k + 1, ...row])].map((row) => row.join(",")).join("\n");
  if (cards.length) parts.push(h("div", { class: "row" }, h("button", { type: "button", class: "small", onclick: () => save(new Blob([csv], { type: "text/csv" }), "weights.csv") }, "Weights as CSV")));
  return parts;
}

function scatter(xs, ys, across, up) {
  const W = 480, H = 240, pad = 38;
  const span = (values) => { const low = Math.min(...values), high = Math.max(...values); return [low, high - low || 1]; };
  const [x0, dx] = span(xs), [y0, dy] = span(ys);
  const dots = xs.map((x, i) => svg("circle", { cx: pad + ((W - 2 * pad) * (x - x0)) / dx, cy: H - pad - ((H - 2 * pad) * (ys[i] - y0)) / dy, r: 2, class: "bar", opacity: 0.45 }));
  const label = (text, about) => { const made = svg("text", about); made.textContent = text; return made; };
  return svg("svg", { class: "stairs", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${up} against ${across}` },
    svg("line", { class: "axis-line", x1: pad, x2: W - pad, y1: H - pad + 6, y2: H - pad + 6 }),
    svg("line", { class: "axis-line", x1: pad - 6, x2: pad - 6, y1: pad, y2: H - pad }),
    ...dots, label(across, { x: W / 2, y: H - 8, "text-anchor": "middle" }), label(up, { x: 4, y: 14 }),
    label(short(Number(x0.toPrecision(3))), { x: pad, y: H - 10 }), label(short(Number((x0 + dx).toPrecision(3))), { x: W - pad, y: H - 10, "text-anchor": "end" }),
    label(short(Number(y0.toPrecision(3))), { x: 2, y: H - pad }), label(short(Number((y0 + dy).toPrecision(3))), { x: 2, y: pad + 4 }));
}

function bars(columns, weights, errors) {
  const order = weights.map((w, j) => j).sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a])).slice(0, 8);
  const W = 480, step = 24, H = order.length * step + 8, mid = 300, scale = 160;
  const parts = order.flatMap((j, k) => {
    const w = weights[j] * scale, y = 4 + k * step;
    const name = svg("text", { x: 4, y: y + 15 });
    name.textContent = `${columns[j]}`.slice(0, 22);
    const half = 1.645 * errors[j] * scale;
    return [name, svg("rect", { class: "bar", x: Math.min(mid, mid + w), y: y + 3, width: Math.abs(w), height: step - 9 }),
      svg("line", { class: "spread", x1: mid + w - half, x2: mid + w + half, y1: y + 10, y2: y + 10 })];
  });
  return svg("svg", { class: "stairs", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "The largest standardised weights with 90 % intervals" }, ...parts);
}
