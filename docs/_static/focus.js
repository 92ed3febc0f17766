// What scrolls sideways on a narrow screen can be reached by the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll("article table, article pre")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});
