// The grand staircase: how many directions are known at which number of samples per dimension.
import { h, short, svg } from "./dom.js";

const W = 420, H = 200, LEFT = 40, RIGHT = 16, TOP = 22, BASE = 42;

/** The next round number. */
function nice(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= size);
}

/** The picture of the steps of a report; nothing where there are none. */
export function staircase(facts) {
  const steps = facts.staircase ?? [];
  if (!steps.length) return h("p", { class: "quiet" }, "This report has no staircase in samples per dimension.");
  const open = steps.map((step) => step.alpha_self_consistent ?? step.alpha);
  const finite = open.filter((at) => at !== null);
  const hard = steps.some((step) => step.kind === "hard");
  const tick = nice(1.35 * Math.max(0.75, ...finite) / 4), end = 4 * tick;
  const x = (at) => LEFT + (W - LEFT - RIGHT - (hard ? 90 : 0)) * (at / end);
  const total = steps.reduce((sum, step) => sum + step.directions.length, 0);
  const y = (known) => H - BASE - (H - BASE - TOP) * (known / Math.max(total, facts.r));
  const parts = [];
  for (let k = 0; k <= Math.max(total, facts.r); k += 1) {
    parts.push(svg("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: y(k), y2: y(k) }));
    const label = svg("text", { x: LEFT - 8, y: y(k) + 4, "text-anchor": "end" });
    label.textContent = k;
    parts.push(label);
  }
  let known = 0, path = `M ${x(0)} ${y(0)}`;
  const words = [];
  steps.forEach((step, k) => {
    const at = open[k], more = step.directions.length;
    if (at === null) {
      words.push(`${more} more ${step.kind === "hard" ? "only with more than a number of samples proportional to d" : "undecided"}`);
      return;
    }
    path += ` H ${x(at)} V ${y(known + more)}`;
    known += more;
    words.push(`${known} at alpha ${short(at)}`);
    const text = svg("text", { x: x(at) + 6, y: y(known) + 16 });
    text.textContent = at === 0 ? "at once" : short(Number(at.toPrecision(4)));
    parts.push(text);
    if (step.alpha_error) {
      const half = Math.max(x(at + step.alpha_error) - x(at), 1);
      const middle = (y(known) + y(known - more)) / 2;
      parts.push(svg("line", { class: "spread", x1: x(at) - half, x2: x(at) + half, y1: middle, y2: middle }));
    }
  });
  path += ` H ${x(end)}`;
  parts.push(svg("path", { class: "tread", d: path }));
  if (hard) {
    const text = svg("text", { x: W - RIGHT, y: y(total) + 16, "text-anchor": "end" });
    text.textContent = "needs more than d";
    parts.push(text);
  }
  const below = svg("text", { x: (LEFT + W) / 2, y: H - 6, "text-anchor": "middle" });
  below.textContent = "samples per dimension α = n / d";
  const side = svg("text", { x: LEFT - 30, y: 12 });
  side.textContent = "directions known";
  for (let k = 0; k <= 4; k += 1) {
    const label = svg("text", { x: x(k * tick), y: H - BASE + 17, "text-anchor": "middle" });
    label.textContent = short(Number((k * tick).toPrecision(3)));
    parts.push(label);
  }
  return svg("svg", { class: "stairs", viewBox: `0 0 ${W} ${H}`, role: "img",
    "aria-label": `Directions known: ${words.join("; ")}.` }, ...parts, below, side);
}
