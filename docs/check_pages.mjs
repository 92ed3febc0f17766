// Opens the built pages in headless Chromium without network, on a telephone of 390 pixels in the light theme and
// on a desk in the dark one: formulas are shown, nothing is wider than the screen, axe finds no fault of contrast
// or description, every page of the guide has a picture, the console stays empty.
//
//   npm install puppeteer-core axe-core && CHROMIUM=/usr/bin/chromium node docs/check_pages.mjs [FILE.html ...]

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "check.js"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const root = process.env.PAGES ?? "docs/_build/html";
const skipped = /^(_|genindex|search|py-modindex)/;

function pages(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.test(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pages(path);
    return entry.name.endsWith(".html") ? [path] : [];
  });
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--allow-file-access-from-files"],
});
const given = process.argv.slice(2);
let faults = 0;
let formulas = 0;
let asked = 0;
const fault = (path, words) => { faults += 1; console.log(`${path}: ${words}`); };

const screens = [{ width: 390, scheme: "light" }, { width: 1280, scheme: "dark" }];

async function look(path, { width, scheme }) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const local = /^(file|data|blob):/.test(request.url());
    if (!local) { asked += 1; fault(path, `asks for ${request.url()}`); }
    return local ? request.continue() : request.abort();
  });
  page.on("pageerror", (error) => fault(path, `error: ${error.message}`));
  page.on("console", (line) => line.type() === "error" && fault(path, `console: ${line.text()}`));
  await page.goto(pathToFileURL(resolve(path)).href, { waitUntil: "load" });
  const seen = await page.evaluate(() => {
    const shown = [...document.querySelectorAll("math")];
    return {
      width: document.documentElement.scrollWidth,
      pictures: document.querySelectorAll("article img, article svg, main img, main svg").length,
      formulas: shown.length,
      empty: shown.filter((one) => !one.textContent.trim() || !one.getBoundingClientRect().width
        && one.offsetParent !== null).length,
      raw: /\\(mathrm|frac|alpha|sum|left)\b|\\\(|\\\[/.test(document.querySelector("article, main")
        ?.innerText.replace(/```[^]*?```/g, "") ?? ""),
    };
  });
  formulas += seen.formulas;
  if (seen.width > width) fault(path, `is ${seen.width} pixels wide on a screen of ${width}`);
  if (!seen.pictures && /guide/.test(path)) fault(path, "has no picture");
  if (seen.empty) fault(path, `${seen.empty} formulas are empty`);
  if (seen.raw && !/generated|mathematics.*source/.test(path)) fault(path, "shows raw TeX");
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document.querySelector("article, main") ?? document, {
    runOnly: ["color-contrast", "image-alt", "scrollable-region-focusable", "link-name", "list"],
  }));
  for (const one of found.violations) {
    fault(path, `${scheme}: ${one.id} in ${one.nodes.length} places, such as ${one.nodes[0].html.slice(0, 120)}`);
  }
  await page.close();
}

for (const path of given.length ? given : pages(root)) {
  for (const screen of screens) await look(path, screen);
}
await browser.close();
console.log(`${formulas} formulas, ${asked} requests beyond the pages, ${faults} faults.`);
process.exit(faults ? 1 : 0);
