// What scrolls, sideways or down, can be reached by the keyboard.
function reachable() {
  for (const part of document.querySelectorAll("article table, article pre, article div.math, article .wide")) {
    const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    if (scrolls) part.tabIndex = 0;
  }
}
for (const moment of ["DOMContentLoaded", "load", "resize"]) window.addEventListener(moment, reachable);
