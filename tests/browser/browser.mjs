// Debian's Chromium, and the packages of package.json, which tests/tiers/tools.sh installs.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const cache = process.env.XDG_CACHE_HOME || path.join(process.env.HOME, ".cache");
const installed = createRequire(path.join(cache, "pericore/browser/package.json"));

export const AXE = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

/** A browser with a profile that is empty. */
export const launch = () => installed("playwright-core").chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });

/** A page, and what goes wrong on it: errors, and what is loaded from elsewhere than `isOurs` lets through. */
async function newPage(browser, isOurs, options) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: "light", ignoreHTTPSErrors: true, ...options });
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
  page.on("console", (message) => message.type() === "error" && trouble.push(`console: ${message.text()}`));
  page.on("request", (request) => isOurs(request.url()) || trouble.push(`loads ${request.url()}`));
  return { page, trouble };
}

/** Opens a file, and notes what goes wrong and what is loaded besides it. */
export async function open(browser, file, options = {}) {
  const address = pathToFileURL(path.resolve(file)).href;
  const { page, trouble } = await newPage(browser, (url) => url === address, options);
  await page.goto(address);
  await page.waitForSelector("html[data-ready=true]");
  return { page, trouble };
}

/** Opens a server's page, and notes what goes wrong and what is loaded from elsewhere. */
export async function openAddress(browser, address, options = {}) {
  const { page, trouble } = await newPage(browser, (url) => url === address || url.startsWith(`${address}live.json?after=`), options);
  await page.goto(address);
  return { page, trouble };
}

/** How many colours a canvas has: an empty one has a single one. */
const colors = (canvas) => canvas.evaluate((element) => {
  const { width, height } = element;
  const pixels = new Uint32Array(element.getContext("2d").getImageData(0, 0, width, height).data.buffer);
  return new Set(pixels).size;
});

/** A canvas as text that differs from that of another picture. */
export const picture = (canvas) => canvas.evaluate((element) => element.toDataURL());

/** The part of the time that is shown. */
export const view = async (page) => [Number(await page.inputValue("#from")), Number(await page.inputValue("#to"))];

/** Fails if a canvas that is to be seen is empty; how many there are. */
export async function everyCanvasIsDrawn(page) {
  const canvases = await page.locator("canvas").all();
  for (const canvas of canvases) {
    if (await canvas.isVisible()) assert.ok((await colors(canvas)) > 2, `empty: ${await canvas.evaluate((it) => it.outerHTML)}`);
  }
  return canvases.length;
}
