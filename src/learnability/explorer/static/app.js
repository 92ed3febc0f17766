// The frame of the page: the list of pages, and which of them is open.
import { declarations } from "./api.js";
import { h, say } from "./dom.js";
import { pageName } from "./state.js";
import * as compare from "./compare.js";
import * as data from "./data.js";
import * as explore from "./explore.js";
import * as gallery from "./gallery.js";
import * as race from "./race.js";
import * as study from "./study.js";

const PAGES = {
  explore: ["Explore", explore.explorePage],
  race: ["Race", race.page],
  compare: ["Compare", compare.page],
  gallery: ["Gallery", gallery.page],
  depth: ["Depth", explore.depthPage],
  structured: ["Structured", explore.structuredPage],
  data: ["Data", data.page],
  study: ["Study", study.page],
};
let declared, leave;

function show() {
  leave?.();
  const name = pageName() in PAGES ? pageName() : "explore";
  const [title, page] = PAGES[name];
  document.title = `${title} · learnability explorer`;
  document.getElementById("nav").replaceChildren(...Object.entries(PAGES).map(([key, [word]]) =>
    h("a", { href: key, "aria-current": key === name ? "page" : null, onclick: (event) => go(event, key) }, word)));
  const main = document.getElementById("main");
  const control = new AbortController();
  leave = () => control.abort();
  main.replaceChildren(...page(declared, control.signal));
}

/** Open a page without loading everything again. */
function go(event, address) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", address);
  show();
  document.getElementById("main").focus();
  say(document.title);
}

addEventListener("popstate", show);

declared = await declarations();
show();
document.body.dataset.ready = "yes";
