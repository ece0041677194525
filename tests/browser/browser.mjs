// Debian's Chromium, and the packages of package.json, which tests/tiers/tools.sh installs.
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

/** Opens a file, and notes what goes wrong and what is loaded besides it. */
export async function open(browser, file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: "light", ...options });
  const address = pathToFileURL(path.resolve(file)).href;
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
  page.on("console", (message) => message.type() === "error" && trouble.push(`console: ${message.text()}`));
  page.on("request", (request) => request.url() === address || trouble.push(`loads ${request.url()}`));
  await page.goto(address);
  await page.waitForSelector("html[data-ready=true]");
  return { page, trouble };
}
