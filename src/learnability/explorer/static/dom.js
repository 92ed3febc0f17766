// Small pieces of the page: elements, formulas, controls made from declarations.

/** An element: h("p", {class: "quiet", onclick}, "text", child). Text is never read as HTML. */
export function h(name, about = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, about = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(about)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A formula or label that the server made, read as XML: it cannot hold a script that runs. */
export function markup(text) {
  const parsed = new DOMParser().parseFromString(text, "application/xml");
  if (parsed.querySelector("parsererror, script")) return document.createTextNode("");
  return document.importNode(parsed.documentElement, true);
}

/** The place of a formula; where it is too narrow, the formula is moved with the arrow keys. */
export function formulaPlace(about = {}, ...children) {
  const place = h("div", { class: "typeset", ...about }, ...children);
  const look = () => {
    const wide = place.scrollWidth > place.clientWidth;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "The formula"]]) {
      if (wide) place.setAttribute(name, value);
      else place.removeAttribute(name);
    }
  };
  new ResizeObserver(look).observe(place);
  new MutationObserver(look).observe(place, { childList: true });
  return place;
}

export function say(text) {
  document.getElementById("status").textContent = text;
}

let count = 0;
export const fresh = (word) => `${word}-${(count += 1)}`;

/** A labelled field; `change` hears the text when it is final, `input` at every letter. */
export function field(label, input, help = "") {
  input.id ||= fresh("field");
  const told = help ? h("p", { class: "help", id: `${input.id}-help` }, help.replaceAll("`", "")) : null;
  if (told) input.setAttribute("aria-describedby", told.id);
  return h("div", {}, h("label", { for: input.id }, label), input, told);
}

export function choice(words, value, onchange, none = undefined) {
  const known = words.map((word) => (typeof word === "string" ? [word, word] : word));
  if (none !== undefined) known.unshift(["", none]);
  const options = known.map(([word, shown]) => h("option", { value: word }, shown));
  const select = h("select", { onchange: () => onchange(select.value) }, options);
  select.value = value ?? "";
  return select;
}

/** The control of a declared option; its text is what the command line takes. */
export function control(option, value, onchange) {
  const change = (text) => onchange(option.name, text);
  let input;
  if (option.type === "choice") {
    input = choice(option.words, value, change, option.default ? `${option.default} (default)` : "—");
  } else if (option.type === "flag") {
    input = choice([["true", "yes"], ["false", "no"]], value, change, option.default || "—");
  } else {
    input = h("input", {
      type: "text", value: value ?? "", placeholder: option.default, spellcheck: "false",
      autocomplete: "off", onchange: () => change(input.value.trim()),
    });
  }
  const unit = option.unit ? ` (${option.unit})` : "";
  return field(`${option.name.replaceAll("-", " ")}${unit}`, input, option.help);
}

export function table(head, rows, caption = "") {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption || "Table" },
    h("table", {},
      caption ? h("caption", { class: "visually-hidden" }, caption) : null,
      head.length ? h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))) : null,
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cellOf))))));
}

/** A cell; d^2 has its exponent above the line, and what is short stays on one. */
function cellOf(cell) {
  const parts = String(cell).split(/\^([\d.]+)/);
  return h("td", { class: String(cell).length < 12 ? "short" : null },
    parts.map((part, k) => (k % 2 ? h("sup", {}, part) : part)));
}

export function short(number) {
  if (number === null || number === undefined) return "?";
  return Number(number.toPrecision(6)).toString();
}

/** A number with as many digits as its error allows, and the error where it shows in them. */
export function withError(number, error) {
  if (number === null || number === undefined || !error || error < 5e-7 * Math.abs(number)) return [short(number), ""];
  const digits = Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(error))));
  return [number.toFixed(digits), `± ${Number(error.toPrecision(2))}`];
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied.`);
}

export function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function later(wait, action) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}
