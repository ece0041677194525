// Latency against bandwidth: a point for each moment.
"use strict";

const MARGIN = { left: 70, right: 16, top: 10, bottom: 34 };
const SCATTER_HEIGHT = 320;
/** Rows of the table: more would not be read. */
const MOST_TABLE_ROWS = 100;

/** Rows of the first recording in a unit of measure. */
const rowsIn = (units) => DATA.recordings[0].whole.rows.filter((row) => units.includes(row.unit));

/** The moments in which both rows have numbers, of all recordings, in the units of the first. */
function scatterPoints(nameX, nameY) {
  const [leadX, leadY] = [nameX, nameY].map((name) => DATA.recordings[0].whole.rows.find((row) => row.name === name));
  return DATA.recordings.flatMap(({ whole }, which) => {
    const [rowX, rowY] = [nameX, nameY].map((name) => whole.rows.find((row) => row.name === name));
    if (!rowX || !rowY) return [];
    return whole.ends.map((end, at) => ({
      which, end, share: (end - whole.begin) / (whole.ends.at(-1) - whole.begin),
      x: rowX.mean[at] === null ? null : (rowX.mean[at] * leadX.factor) / rowX.factor,
      y: rowY.mean[at] === null ? null : (rowY.mean[at] * leadY.factor) / rowY.factor,
      mark: worstMark(rowX.marks[at], rowY.marks[at]),
    })).filter((point) => point.x !== null && point.y !== null);
  });
}

/** Steps of 1, 2 or 5 times a power of ten, at most six. */
function ticks(most) {
  const rough = most / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step);
}

function drawAxes(context, width, mostX, mostY, placeX, placeY, titleX, titleY) {
  context.font = "12px sans-serif";
  context.fillStyle = cssColor("--ink");
  context.strokeStyle = cssColor("--rule");
  context.beginPath();
  for (const tick of ticks(mostX)) {
    context.moveTo(placeX(tick), MARGIN.top);
    context.lineTo(placeX(tick), SCATTER_HEIGHT - MARGIN.bottom);
    context.fillText(digits(tick), placeX(tick) - 8, SCATTER_HEIGHT - MARGIN.bottom + 14);
  }
  for (const tick of ticks(mostY)) {
    context.moveTo(MARGIN.left, placeY(tick));
    context.lineTo(width - MARGIN.right, placeY(tick));
    const text = digits(tick);
    context.fillText(text, MARGIN.left - 6 - context.measureText(text).width, placeY(tick) + 4);
  }
  context.stroke();
  context.fillText(titleX, width - MARGIN.right - context.measureText(titleX).width, SCATTER_HEIGHT - 4);
  context.save();
  context.translate(12, SCATTER_HEIGHT / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(titleY, 0, 0);
  context.restore();
}

function drawScatter() {
  const canvas = byId("scatter");
  const [nameX, nameY] = [byId("scatter-x").value, byId("scatter-y").value];
  const points = scatterPoints(nameX, nameY);
  const width = Math.min(canvas.parentElement.clientWidth - 34, 800);
  const context = sharp(canvas, width, SCATTER_HEIGHT);
  const [mostX, mostY] = [Math.max(...points.map(({ x }) => x), 0) * 1.05 || 1, Math.max(...points.map(({ y }) => y), 0) * 1.05 || 1];
  const placeX = (x) => MARGIN.left + (x / mostX) * (width - MARGIN.left - MARGIN.right);
  const placeY = (y) => SCATTER_HEIGHT - MARGIN.bottom - (y / mostY) * (SCATTER_HEIGHT - MARGIN.top - MARGIN.bottom);
  const symbol = (name) => DATA.recordings[0].whole.rows.find((row) => row.name === name)?.symbol ?? "";
  drawAxes(context, width, mostX, mostY, placeX, placeY, `${nameX}, ${symbol(nameX)}`, `${nameY}, ${symbol(nameY)}`);
  context.lineWidth = 1.5;
  for (const { which, share, x, y, mark } of points) {
    // The last tenth of the map's colours is too light for a white ground, and the first too dark for a black one.
    const light = document.documentElement.dataset.theme === "light";
    const color = `rgb(${mapColor(light ? share * 0.8 : 0.3 + share * 0.7)})`;
    context.fillStyle = context.strokeStyle = color;
    context.beginPath();
    if (which === 0) context.arc(placeX(x), placeY(y), 4, 0, 2 * Math.PI);
    else context.rect(placeX(x) - 4, placeY(y) - 4, 8, 8);
    if (mark === " ") context.fill(); else context.stroke();
  }
  const spread = (key) => `${digits(Math.min(...points.map((point) => point[key])))} to ${digits(Math.max(...points.map((point) => point[key])))}`;
  const text = points.length === 0 ? "No moment has both numbers."
    : `${points.length} points: ${nameX} ${spread("x")} ${symbol(nameX)}, ${nameY} ${spread("y")} ${symbol(nameY)}.`;
  canvas.setAttribute("aria-label", `Scatter chart. ${text}`);
  const second = DATA.recordings.length > 1 ? " Circles are the first recording, squares the second." : "";
  byId("scatter-note").textContent = `${text} From dark to light is from early to late; hollow points are not plainly measured.${second}`;
  const step = Math.ceil(points.length / MOST_TABLE_ROWS) || 1;
  const some = points.filter((_, at) => at % step === 0);
  replaceIn(byId("scatter-table"), table(step > 1 ? `One of ${step} points` : "All points",
    ["at", symbol(nameX) || "across", symbol(nameY) || "up", "validity"], [0, 1, 2],
    some.map(({ end, x, y, mark }) => [shownTime(end), digits(x), digits(y), MARK_WORDS[mark]])));
}

function showScatter() {
  const [across, up] = [rowsIn(["B/s"]), [...rowsIn(["ns"]), ...rowsIn(["cycles"])]];
  if (across.length === 0 || up.length === 0) return;
  byId("scatter-section").hidden = false;
  const options = (rows) => [...new Set(rows.map(({ name }) => name))].map((name) => element("option", { value: name }, name));
  byId("scatter-x").append(...options(across));
  byId("scatter-y").append(...options(up));
  ["scatter-x", "scatter-y"].forEach((id) => byId(id).addEventListener("change", drawScatter));
  drawScatter();
  REDRAWS.push(drawScatter);
  REFRESHES.push(drawScatter);
}
