// Looks at pages of `pericore report --html` as a reader does: `node page.mjs ONE.html DIFF.html HOSTILE`, where ONE is of
// one recording that has an event called HOSTILE, and DIFF of two.
import assert from "node:assert/strict";
import { AXE, everyCanvasIsDrawn, launch, open, picture, view } from "./browser.mjs";

const [one, diff, hostile] = process.argv.slice(2);

async function chartsAreThere(page) {
  assert.ok((await everyCanvasIsDrawn(page)) > 8, "brush, charts, map and a small chart for each channel");
  assert.match(await page.textContent("#emulated"), /^EMULATED: e5-2680/);
  assert.match(await page.textContent("#summary"), /Memory [0-9.]+ of 51\.2 GB\/s/);
  const words = await page.textContent("#summary");
  assert.ok(words.includes("scaled, counted"), "the validity of figures stands beside them");
  assert.ok(await page.locator("#scatter-section").isVisible(), "bandwidth and latency were both counted");
}

async function hostileNamesAreText(page) {
  assert.ok((await page.textContent("#summary")).includes(hostile), "the name is shown as it is");
  assert.equal(await page.locator("img, section b:not(.line)").count(), 0, "and is no element");
}

async function dragging(page, target, from, to) {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  await page.mouse.move(box.x + box.width * from, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
}

async function brushZooms(page) {
  const all = await view(page);
  const chart = page.locator("#charts canvas").first();
  const before = await picture(chart);
  await dragging(page, page.locator("#brush .u-over"), 0.25, 0.75);
  const half = await view(page);
  assert.ok(Math.abs((half[1] - half[0]) / (all[1] - all[0]) - 0.5) < 0.02, `half of ${all} is shown: ${half}`);
  assert.notEqual(await picture(chart), before, "the charts follow");
  await dragging(page, page.locator("#charts .u-over").first(), 0.25, 0.75);
  const quarter = await view(page);
  assert.ok(Math.abs((quarter[1] - quarter[0]) / (all[1] - all[0]) - 0.25) < 0.02, `a quarter is shown: ${quarter}`);
  await page.locator("#charts .u-over").last().dblclick();
  assert.deepEqual(await view(page), all, "a double click shows all");
}

async function keysDoTheSame(page) {
  const all = await view(page);
  await page.locator("#brush [tabindex]").focus();
  await page.keyboard.press("+");
  const half = await view(page);
  assert.ok(Math.abs((half[1] - half[0]) / (all[1] - all[0]) - 0.5) < 0.01, `${half}`);
  await page.keyboard.press("ArrowRight");
  assert.ok((await view(page))[0] > half[0], "it moves on");
  await page.keyboard.press("0");
  assert.deepEqual(await view(page), all);
  // With the tabulator alone all controls are reached.
  const reached = new Set();
  await page.locator("#theme").focus();
  for (let times = 0; times < 80; times++) {
    reached.add(await page.evaluate(() => document.activeElement.id));
    await page.keyboard.press("Tab");
  }
  for (const id of ["from", "to", "zoom-in", "unit-metric", "slider", "scatter-x"]) assert.ok(reached.has(id), `${id} is not reached`);
}

async function sliderMoves(page) {
  const [time, grid, map] = [page.locator("#slider-time"), page.locator("#grid"), page.locator("#heat")];
  const before = [await time.textContent(), await grid.textContent(), await picture(map)];
  await page.locator("#slider").focus();
  await page.keyboard.press("End");
  const behind = [await time.textContent(), await grid.textContent(), await picture(map)];
  behind.forEach((text, at) => assert.notEqual(text, before[at], `part ${at} does not move`));
  assert.equal(await grid.locator("li").count(), 4, "the four channels of an E5-2680");
  const heat = await map.boundingBox();
  await map.click({ position: { x: heat.width * 0.3, y: 10 } });
  assert.notEqual(await time.textContent(), behind[0], "a click into the map moves it, too");
}

async function boxesHideLines(page) {
  const chart = page.locator("#charts canvas").first();
  const before = await picture(chart);
  await page.locator("#charts input[type=checkbox]").first().uncheck();
  assert.notEqual(await picture(chart), before);
  await page.locator("#charts input[type=checkbox]").first().check();
}

async function darkIsDark(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  const before = await picture(page.locator("#scatter"));
  await page.locator("#theme").press("Enter");
  assert.equal(light, "rgb(255, 255, 255)");
  assert.equal(await ground(), "rgb(20, 23, 27)");
  assert.notEqual(await picture(page.locator("#scatter")), before, "the pictures follow");
  await everyCanvasIsDrawn(page);
}

async function axeFindsNothing(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
}

async function changesAreShown(page) {
  const rows = await page.locator("#changes tbody tr").allTextContents();
  const reads = rows.find((row) => row.startsWith("<b>"));
  assert.ok(reads.includes("beyond chance"), `half as many requests: ${reads}`);
  assert.ok(rows.some((row) => row.includes("may be chance") || row.includes("the same")), `${rows}`);
  const shown = await page.locator("#charts").textContent();
  assert.ok(shown.includes("(first)") && shown.includes("(second)"), "both are in the charts");
}

const browser = await launch();
try {
  const single = await open(browser, one);
  for (const check of [chartsAreThere, hostileNamesAreText, brushZooms, keysDoTheSame, sliderMoves, boxesHideLines, axeFindsNothing,
    darkIsDark, axeFindsNothing]) {
    await check(single.page);
  }
  const pair = await open(browser, diff, { colorScheme: "dark" });
  assert.equal(await pair.page.evaluate(() => document.documentElement.dataset.theme), "dark", "as the system has it");
  for (const check of [everyCanvasIsDrawn, changesAreShown, axeFindsNothing]) await check(pair.page);
  const narrow = await open(browser, one, { viewport: { width: 360, height: 700 } });
  const width = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `on a telephone the page is ${width} pixels wide`);
  assert.deepEqual([...single.trouble, ...pair.trouble, ...narrow.trouble], []);
} finally {
  await browser.close();
}
