// The function and its target: a formula that is typeset as one types, noise, and further options.
import { quick } from "./api.js";
import { control, field, formulaPlace, h, later, markup } from "./dom.js";

const EXAMPLES = ["sign(z1*z2)", "He3(z)", "z1**2 + sign(z1*z2*z3)", "abs(z)"];

/**
 * The card of a target. `names` are its options, `always` what holds where nothing is given;
 * `changed(final, parsed)` hears of edits.
 */
export function targetCard(declared, state, changed, signal, { names, examples = EXAMPLES, always = {} }) {
  const typeset = formulaPlace({ "aria-live": "polite" });
  const error = h("p", { class: "error", role: "alert", id: "formula-error" });
  const input = h("input", {
    type: "text", class: "formula", id: "formula", value: state.expression ?? "", spellcheck: "false",
    autocomplete: "off", autocapitalize: "off", "aria-describedby": "formula-error",
    placeholder: "z1**2 + sign(z1*z2*z3)", oninput: () => typed(), onchange: () => changed(true),
  });
  let asked = 0;
  const card = {};
  async function parse() {
    const mine = (asked += 1);
    const values = { ...card.values(), expression: input.value };
    if (!input.value.trim()) return shown({ event: "empty" }, values.expression);
    const answer = await quick("parse", values, "", signal).catch(() => null);
    if (answer && mine === asked) shown(answer, values.expression);
  }
  function shown(answer, text) {
    typeset.dataset.of = text;
    card.parsed = answer.event === "result" ? answer : null;
    error.textContent = answer.event === "error" ? answer.sentence : "";
    input.setAttribute("aria-invalid", answer.event === "error");
    if (answer.event === "result") {
      const law = answer.law ? `, a random label (${answer.law})` : "";
      typeset.replaceChildren(markup(answer.mathml));
      typeset.append(h("p", { class: "help" }, `${answer.r} hidden direction${answer.r > 1 ? "s" : ""}${law}`));
    } else typeset.replaceChildren();
    changed(false, card.parsed);
  }
  const soon = later(60, parse);
  function typed() {
    state.expression = input.value;
    card.parsed = undefined;
    soon();
  }
  card.values = () => ({ ...always, ...Object.fromEntries(["expression", "noise", ...names]
    .filter((name) => state[name]).map((name) => [name, state[name]])) });
  card.parse = parse;
  const owner = (name) => Object.keys(declared.inputs).find((law) => declared.inputs[law].includes(name));
  const fields = h("div", { class: "fields" });
  const set = (name, text) => {
    state[name] = text;
    if (name === "inputs") {
      for (const other of names) if (owner(other) && owner(other) !== text) delete state[other];
      fill();
    }
    parse();
    changed(true);
  };
  /** The options that act: of the laws of inputs only the chosen one has some. */
  function fill() {
    const own = declared.target.filter(({ name }) => names.includes(name) && name !== "noise" &&
      (!owner(name) || owner(name) === state.inputs));
    fields.replaceChildren(...own.map((option) => control({ ...option, default: always[option.name] ?? option.default,
      help: option.help.replace(/^[\w-]+ (targets|inputs): (.)/, (_, __, first) => first.toUpperCase()) }, state[option.name], set)));
  }
  fill();
  card.element = h("section", { class: "card wide" },
    field("The function g of hidden directions z1, z2, …", input),
    h("div", { class: "row", "aria-label": "Examples", role: "group" },
      h("span", { class: "help" }, "Try"),
      examples.map((text) => h("button", { type: "button", class: "small",
        onclick: () => { input.value = state.expression = text; parse(); changed(true); } }, text))),
    h("div", { class: "asked" }, h("div", {}, typeset, error), noiseControl(state, set)),
    names.length > 1 ? fields : null);
  return card;
}

function noiseControl(state, set) {
  const range = h("input", { type: "range", min: "0", max: "2", step: "0.01", value: state.noise || "0",
    "aria-label": "Label noise, slider", oninput: () => { number.value = range.value; soon(); } });
  const number = h("input", { type: "text", inputmode: "decimal", value: state.noise || "0",
    onchange: () => { range.value = number.value; set("noise", zero(number.value)); } });
  const soon = later(250, () => set("noise", zero(range.value)));
  const made = field("Label noise (variance Δ)", number);
  made.append(range);
  return made;
}

const zero = (text) => (Number(text) === 0 ? "" : text.trim());
