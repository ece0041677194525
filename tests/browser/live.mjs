// Looks at the page of `pericore serve` while it measures: `node live.mjs ADDRESS [TOKEN]`. With a token, the server wants it.
import assert from "node:assert/strict";
import { AXE, everyCanvasIsDrawn, launch, openAddress, picture, view } from "./browser.mjs";

const [address, token] = process.argv.slice(2);
/** Longer than the slowest host takes for some samples. */
const PATIENCE = 120_000;

/** Waits until something that the page shows differs from what it was. */
async function changes(page, read, before) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const now = await read();
    if (JSON.stringify(now) !== JSON.stringify(before)) return now;
    assert.ok(Date.now() < end, `it is still ${JSON.stringify(before).slice(0, 200)}`);
    await page.waitForTimeout(100);
  }
}

const samples = (page) => page.evaluate("DATA.live.samples");
const status = (page) => page.textContent("#status");

async function tokenIsWanted(page) {
  await page.waitForSelector("#token", { timeout: PATIENCE });
  assert.equal(await page.locator("#summary").isVisible(), false, "no numbers without it");
  await axeFindsNothing(page);
  await page.fill("#token", "c0ffee00c0ffee00");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("That is not the token"), null,
    { timeout: PATIENCE });
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
}

async function chartsAreThere(page) {
  assert.ok((await everyCanvasIsDrawn(page)) > 4, "brush, chart, map and a small chart for each channel");
  assert.match(await page.textContent("#emulated"), /^EMULATED: e5-2680/);
  assert.match(await page.textContent("#summary"), /sample [0-9]+/);
  assert.match(await page.textContent("#summary"), /Memory .*reads .*writes/);
  assert.equal(await page.locator("#grid li").count(), 4, "the four channels of an E5-2680");
}

/** With each sample: figures, charts, map and slider. */
async function itMovesOn(page) {
  const chart = page.locator("#charts canvas").first();
  await page.locator("#slider").press("End");
  const read = async () => [await picture(chart), await picture(page.locator("#heat")), await page.textContent("#summary"),
    Number(await page.inputValue("#slider")), (await view(page))[1]];
  const before = await read();
  // The number comes last: what was read before is of no later sample.
  await changes(page, () => samples(page), await samples(page));
  await changes(page, async () => (await read())[3], before[3]);
  // On a busy host charts are drawn after the slider has moved.
  await changes(page, async () => (await view(page))[1], before[4]);
  const behind = await read();
  ["chart", "map", "figures"].forEach((what, at) => assert.notEqual(behind[at], before[at], what));
  assert.ok(behind[3] > before[3], "the slider stays at the newest");
  assert.ok(behind[4] > before[4], "all of the time is shown");
}

/** A part of the past stays as it is while newer samples come; keys choose it as in a report. */
async function aPartStays(page) {
  const holder = page.locator("#brush [tabindex]");
  await holder.focus();
  await page.keyboard.press("+");
  await page.keyboard.press("Home");
  const part = await view(page);
  await page.locator("#slider").focus();
  await page.keyboard.press("Home");
  const [time, number] = [await page.textContent("#slider-time"), await samples(page)];
  await changes(page, () => samples(page), number);
  assert.deepEqual(await view(page), part);
  assert.equal(await page.textContent("#slider-time"), time);
  assert.equal(await page.evaluate(() => document.activeElement.id), "slider", "the focus stays");
  await holder.focus();
  await page.keyboard.press("0");
  await page.keyboard.press("+");
  await page.keyboard.press("End");
  const newest = await view(page);
  await changes(page, () => view(page), newest);
  const later = await view(page);
  const [length, before] = [later[1] - later[0], newest[1] - newest[0]];
  assert.ok(later[1] > newest[1] && Math.abs(length - before) < before * 0.01, `the newest part moves on: ${newest}, ${later}`);
  await page.keyboard.press("0");
}

async function brushZooms(page) {
  const all = await view(page);
  const target = page.locator("#brush .u-over");
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  const half = await view(page);
  assert.ok(half[1] - half[0] < (all[1] - all[0]) * 0.75, `about half of ${all} is shown: ${half}`);
  await page.locator("#charts .u-over").first().dblclick();
  assert.ok((await view(page))[0] <= all[0]);
}

async function pauseHolds(page) {
  await page.locator("#pause").press("Enter");
  assert.match(await status(page), /^Paused/);
  const number = await samples(page);
  // A server that is due to have another sample: the page asks for none.
  await page.waitForTimeout(1500);
  assert.equal(await samples(page), number);
  await page.locator("#pause").press("Enter");
  await changes(page, () => samples(page), number);
  assert.match(await status(page), /^Live/);
}

async function darkIsDark(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await page.locator("#theme").press("Enter");
  assert.equal(await ground(), "rgb(20, 23, 27)");
  await everyCanvasIsDrawn(page);
}

async function axeFindsNothing(page) {
  // The policy of the page lets no script in but its own: playwright's are not subject to it.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
}

/** Without the server the page says so, and keeps what it has; with it, it goes on. */
async function aLostServerIsSaid(page) {
  await page.route("**/live.json*", (route) => route.abort());
  await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("No numbers since"), null,
    { timeout: PATIENCE });
  assert.ok(await page.locator("#summary").isVisible());
  const number = await samples(page);
  await page.unroute("**/live.json*");
  await changes(page, () => samples(page), number);
  assert.match(await status(page), /^Live/);
}

const browser = await launch();
try {
  const { page, trouble } = await openAddress(browser, address);
  if (token) await tokenIsWanted(page);
  await page.waitForSelector("html[data-ready=true]", { timeout: PATIENCE });
  while ((await samples(page)) < 6) await page.waitForTimeout(100);
  const checks = [chartsAreThere, itMovesOn, axeFindsNothing];
  if (!token) checks.push(aPartStays, brushZooms, pauseHolds, darkIsDark, axeFindsNothing, itMovesOn);
  for (const check of checks) await check(page);
  // What is refused on purpose is reported by the browser, too.
  const expected = token ? /status of 401/ : /^$/;
  assert.deepEqual(trouble.filter((line) => !expected.test(line)), []);
  if (!token) await aLostServerIsSaid(page);
  const narrow = token ? null : await openAddress(browser, address, { viewport: { width: 360, height: 700 }, colorScheme: "dark" });
  if (narrow) {
    await narrow.page.waitForSelector("html[data-ready=true]", { timeout: PATIENCE });
    assert.equal(await narrow.page.evaluate(() => document.documentElement.dataset.theme), "dark", "as the system has it");
    const width = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `on a telephone the page is ${width} pixels wide`);
    assert.deepEqual(narrow.trouble, []);
  }
} finally {
  await browser.close();
}
