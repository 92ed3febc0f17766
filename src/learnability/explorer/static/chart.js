// Theory as lines, runs as crosses, thresholds as dashed lines: uPlot draws the lines and axes.
import { h, markup, table, withError } from "./dom.js";

const colour = (k) => getComputedStyle(document.documentElement).getPropertyValue(`--c${k % 7}`).trim();
/** Observables that lie between 0 and 1 (or -1 and 1) and are drawn on that scale, so that charts side by side agree. */
const SHARES = /^(overlap|cosine|correlation|subspace_overlap|accuracy|train_accuracy)(_trace)?$/;
/** Height of the name of a threshold. */
const LINE = 17;
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** All numbers that a chart shows: what came so far of the theory and of the runs. */
export class Numbers {
  constructor() {
    this.theory = {};
    this.runs = {};
    this.thresholds = {};
  }

  /** Add the curves of an event; those of the end replace all before, and any replace a sketch. */
  hear(side, event) {
    this.add(side, event.curves, event.event === "result" || Boolean(this.sketched));
    this.sketched = event.event === "sketch";
  }

  /** Add curves, or take them instead of all that came before. */
  add(side, curves, whole = false) {
    if (whole) this[side] = {};
    for (const [name, { x, label, curves: own }] of Object.entries(curves)) {
      const known = (this[side][name] ||= { x, label, curves: [] });
      own.forEach((curve, k) => {
        const kept = (known.curves[k] ||= { ...curve, points: [] });
        if (curve.runs) {
          curve.seeds.forEach((seed, s) => curve.x.forEach((at, i) => {
            kept.points.push({ x: at, y: curve.runs[s][i], seed });
          }));
        } else {
          const values = Array.isArray(curve.y) ? curve.y : curve.x.map(() => curve.y);
          curve.x.forEach((at, i) => kept.points.push({ x: at, y: values[i], error: curve.error?.[i] }));
        }
        kept.points.sort((a, b) => a.x - b.x || (a.seed ?? 0) - (b.seed ?? 0));
      });
    }
  }

  get variables() {
    const first = Object.keys(this.theory);
    const both = first.filter((name) => name in this.runs);
    return [...new Set([...both, ...first, ...Object.keys(this.runs)])];
  }
}

export class Chart {
  constructor(declared, title) {
    this.declared = declared;
    this.place = h("div", { class: "chart", role: "img", "aria-label": title });
    this.legend = h("div", { class: "legend" });
    this.above = h("p", { class: "axis y" });
    this.below = h("p", { class: "axis" });
    this.numbers = h("details", {}, h("summary", {}, "The numbers"));
    this.element = h("div", {}, this.above, this.legend, this.place, this.below, this.numbers);
    this.title = title;
    new ResizeObserver(() => this.redraw()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw(true));
  }

  draw(numbers, variable) {
    this.shown = { numbers, variable };
    this.redraw(true);
  }

  redraw(force = false) {
    const width = this.place.clientWidth;
    if (!this.shown || !width || (!force && this.plot?.width === width)) return;
    const { numbers, variable } = this.shown;
    const theory = numbers.theory[variable]?.curves ?? [];
    const runs = numbers.runs[variable]?.curves ?? [];
    const axis = (numbers.theory[variable] ?? numbers.runs[variable])?.x ?? "alpha";
    const points = [...theory, ...runs].flatMap((curve) => curve.points).filter((p) => p.y !== null);
    this.plot?.destroy();
    this.plot = undefined;
    if (!points.length) return this.place.replaceChildren();
    this.place.replaceChildren();
    const xs = [...new Set(theory.flatMap((curve) => curve.points.map((p) => p.x)))].sort((a, b) => a - b);
    const grid = xs.length ? xs : [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
    const data = [grid, ...theory.map((curve) => {
      const at = new Map(curve.points.map((p) => [p.x, p.y]));
      return grid.map((x) => at.get(x) ?? null);
    })];
    if (data.length === 1) data.push(grid.map(() => null));
    const low = Math.min(...points.map((p) => p.y)), high = Math.max(...points.map((p) => p.y));
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    const all = points.map((p) => p.x);
    const marks = axis === "alpha" ? this.marks(numbers.thresholds, Math.max(...all)) : [];
    const scales = {
      x: { time: false, range: [Math.min(0, ...all), Math.max(...all) * 1.02 || 1] },
      y: { range: SHARES.test(variable) ? [low < -0.15 ? Math.min(-1.04, low - room) : Math.min(-0.04, low - room), Math.max(1.04, high + room)]
        : [Math.min(low - room, low >= 0 ? 0 : low), high + room] },
    };
    const dashes = [[], [6, 4], [2, 3], [8, 3, 2, 3], [10, 2], [1, 2]];
    const series = data.slice(1).map((_, k, all) => ({ // Equal lines stay visible below each other.
      stroke: colour(k), width: 2 + 1.2 * (all.length - 1 - k), dash: dashes[theory[k]?.style ?? 0], spanGaps: false,
      points: { show: grid.length < 100, size: grid.length < 30 ? 4 : 3 },
    }));
    const look = { stroke: ink("--quiet"), grid: { stroke: ink("--line"), width: 1 }, ticks: { stroke: ink("--line") },
      values: (u, ticks) => ticks.map((at) => (at === null ? "" : String(Number(at.toPrecision(4))))) };
    this.plot = new window.uPlot({
      width, height: Math.round(Math.min(380, Math.max(240, width * 0.5))) + LINE * marks.length, scales,
      padding: [8 + LINE * marks.length, null, null, null], // The names of thresholds stand above the curves.
      legend: { show: false }, cursor: { drag: { x: false, y: false } },
      series: [{}, ...series], axes: [{ ...look, size: 34 }, { ...look, size: 54 }],
      hooks: { draw: [(u) => errorBars(u, theory), (u) => crosses(u, runs), (u) => thresholds(u, marks)] },
    }, data, this.place);
    this.describe(variable, axis, theory, runs);
  }

  marks(known, end) {
    return Object.entries(known).filter(([, at]) => at !== null && at > 0 && at <= end * 1.02)
      .map(([name, at]) => ({ at, name: name.replace("alpha_", "") })).sort((a, b) => a.at - b.at);
  }

  describe(variable, axis, theory, runs) {
    const { coordinates } = this.declared;
    const own = this.shown.numbers.runs[variable] ?? this.shown.numbers.theory[variable];
    this.above.replaceChildren(markup(own.label));
    this.below.replaceChildren(markup(coordinates[axis]?.label ?? "<span/>"));
    const several = Math.max(theory.length, runs.length) > 1;
    const entries = [];
    (theory.length > runs.length ? theory : runs).forEach((curve, k) => {
      if (several) entries.push(h("span", {}, swatch(k), markup(curve.label)));
    });
    if (theory.length) entries.push(h("span", {}, several ? "— theory" : [swatch(0), "theory"]));
    if (runs.length) entries.push(h("span", {}, h("i", { class: "cross" }, "×"), "runs, a cross each"));
    this.legend.replaceChildren(...entries);
    const rows = [];
    const { sketched } = this.shown.numbers;
    const valueOf = (p) => (sketched && p.error ? withError(p.y, p.error)[0] : String(p.y ?? ""));
    const errorOf = (p) => (p.error ? String(Number(p.error.toPrecision(2))) : "");
    const note = (side, curve, p) => rows.push([side, curve.name || variable, String(p.x), p.seed ?? "", valueOf(p), errorOf(p)]);
    theory.forEach((curve) => curve.points.forEach((p) => note("theory", curve, p)));
    runs.forEach((curve) => curve.points.forEach((p) => note("run", curve, p)));
    const open = this.numbers.open;
    this.numbers.replaceChildren(h("summary", {}, `The numbers (${rows.length})`),
      table(["", "curve", axis, "seed", variable, "error"], rows.slice(0, 2000), `Numbers of ${this.title}`));
    this.numbers.open = open;
  }
}

function swatch(k) {
  const line = h("i");
  line.style.borderColor = `var(--c${k % 7})`;
  return line;
}

/** Bars of the theory's own errors, where they can be seen. */
function errorBars(u, theory) {
  const { ctx } = u;
  ctx.save();
  ctx.setLineDash([]); // The dashes of a line stay when it is drawn.
  ctx.lineWidth = 1.6 * devicePixelRatio;
  theory.forEach((curve, k) => {
    ctx.strokeStyle = colour(k);
    ctx.beginPath();
    for (const p of curve.points) {
      if (p.y === null || !p.error) continue;
      const x = u.valToPos(p.x, "x", true);
      const [low, high] = [p.y - p.error, p.y + p.error].map((at) => u.valToPos(at, "y", true));
      if (low - high < 3 * devicePixelRatio) continue;
      ctx.moveTo(x, low);
      ctx.lineTo(x, high);
    }
    ctx.stroke();
  });
  ctx.restore();
}

function crosses(u, runs) {
  const { ctx } = u;
  const size = 4 * devicePixelRatio;
  ctx.save();
  ctx.setLineDash([]); // The dashes of a line stay when it is drawn.
  ctx.lineWidth = 1.6 * devicePixelRatio;
  runs.forEach((curve, k) => {
    ctx.strokeStyle = colour(k);
    ctx.beginPath();
    for (const p of curve.points) {
      if (p.y === null) continue;
      const x = u.valToPos(p.x, "x", true), y = u.valToPos(p.y, "y", true);
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x - size, y + size);
      ctx.lineTo(x + size, y - size);
    }
    ctx.stroke();
  });
  ctx.restore();
}

function thresholds(u, marks) {
  const { ctx } = u;
  const { top, height, left, width } = u.bbox;
  ctx.save();
  ctx.strokeStyle = ink("--quiet");
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  marks.forEach(({ at, name }, k) => {
    const x = u.valToPos(at, "x", true), y = top - (8 + LINE * (marks.length - 1 - k)) * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, y - 6 * devicePixelRatio);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    ctx.textAlign = x > left + 0.75 * width ? "right" : "left";
    const side = ctx.textAlign === "right" ? -1 : 1;
    const words = [["α", 13, 0], [name, 10, 4]]; // The name is the index of α.
    let at_x = x + 5 * side * devicePixelRatio;
    for (const [word, size, drop] of side > 0 ? words : words.toReversed()) {
      ctx.font = `${size * devicePixelRatio}px system-ui, sans-serif`;
      const wide = ctx.measureText(word).width;
      ctx.fillStyle = ink("--card"); // No line of another threshold runs through a name.
      ctx.fillRect(side > 0 ? at_x : at_x - wide, y - 9 * devicePixelRatio, wide, 14 * devicePixelRatio);
      ctx.fillStyle = ink("--quiet");
      ctx.fillText(word, at_x, y + drop * devicePixelRatio);
      at_x += side * wide;
    }
  });
  ctx.restore();
}
