// Charts over time, one for each unit of measure, with a brush; all show the same part of the time.
"use strict";

const CHART_HEIGHT = 240;
const BRUSH_HEIGHT = 70;
/** So many rows of a chart are shown at first: more are a tangle. */
const SHOWN_AT_FIRST = 7;

const ZOOMS = [];
let isZooming = false;

/** Shows a part of the time, in the page's unit, everywhere. */
function zoom(from, to) {
  if (isZooming || !(to > from)) return;
  const least = (FULL[1] - FULL[0]) * 1e-5;
  const length = Math.min(Math.max(to - from, least), FULL[1] - FULL[0]);
  const begin = Math.min(Math.max(from, FULL[0]), FULL[1] - length);
  VIEW = [begin, begin + length];
  isZooming = true;
  ZOOMS.forEach((follow) => follow(VIEW));
  isZooming = false;
  ["from", "to"].forEach((id, at) => {
    // A server's page moves on by itself: what is being typed stays.
    if (DATA.live && document.activeElement === byId(id)) return;
    byId(id).value = Number(VIEW[at].toPrecision(DATA.live ? 9 : 6));
  });
}

const zoomBy = (factor) => {
  const half = ((VIEW[1] - VIEW[0]) * factor) / 2;
  const center = (VIEW[0] + VIEW[1]) / 2;
  zoom(center - half, center + half);
};
const pan = (share) => {
  const by = (VIEW[1] - VIEW[0]) * share;
  zoom(VIEW[0] + by, VIEW[1] + by);
};

const KEYS = {
  "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), 0: () => zoom(...FULL),
  ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), Home: () => pan(-1e9), End: () => pan(1e9),
};

function onKey(event) {
  const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : KEYS[event.key];
  if (!act || event.target !== event.currentTarget) return;
  act();
  event.preventDefault();
}

/** The rows of one unit of measure, all in the symbol of the largest. */
function chartGroups() {
  const groups = new Map();
  DATA.recordings.forEach((recording, which) => {
    for (const row of recording.whole.rows) {
      if (!groups.has(row.unit)) groups.set(row.unit, []);
      groups.get(row.unit).push({ row, which, curves: recording.whole });
    }
  });
  return [...groups.values()].map((lines) => {
    const names = [...new Set(lines.map((line) => line.row.name))];
    // Beside the most that there can be, all else is flat.
    const isPeak = (name) => DATA.recordings[0].peaks.includes(name);
    const early = names.filter((name) => !isPeak(name)).slice(0, SHOWN_AT_FIRST);
    const atFirst = new Set(early.length ? early : names);
    const group = {
      unit: lines[0].row.unit,
      lines: lines.map((line) => ({ ...line, index: names.indexOf(line.row.name), isShown: atFirst.has(line.row.name) })),
    };
    setSymbol(group);
    return group;
  });
}

/** Gives the lines of a chart the symbol of the largest. */
function setSymbol(group) {
  const largest = (line) => Math.max(...line.row.mean.map((number) => Math.abs(number ?? 0)), 0) / line.row.factor;
  const lead = group.lines.reduce((most, line) => (largest(line) > largest(most) ? line : most)).row;
  group.symbol = lead.symbol;
  group.lines.forEach((line) => { line.scale = lead.factor / line.row.factor; });
}

/** The middles of all buckets of all recordings, and the ends of the time. */
function allTimes() {
  const times = DATA.recordings.flatMap(({ whole }) => whole.ends.map((_, at) => middle(whole, at) * TIME_FACTOR));
  return [...new Set([FULL[0], ...times, FULL[1]])].sort((one, other) => one - other);
}

function numberAt(line, time) {
  const at = bucketAt(line.curves, time / TIME_FACTOR);
  const number = at < 0 ? null : line.row.mean[at];
  return number === null ? null : number * line.scale;
}

function axisOptions() {
  const colors = { stroke: () => cssColor("--ink"), grid: { stroke: () => cssColor("--rule"), width: 1 },
    ticks: { stroke: () => cssColor("--rule"), width: 1 } };
  return [{ ...colors, values: (_, splits) => splits.map((time) => shownTime(time / TIME_FACTOR)) },
    { ...colors, size: 70, values: (_, splits) => splits.map(digits) }];
}

function drawLines(plot, lines) {
  const { left, top, width, height } = plot.bbox;
  const context = plot.ctx;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  const placeX = (seconds) => plot.valToPos(seconds * TIME_FACTOR, "x", true);
  for (const line of lines.filter((one) => one.isShown)) {
    const range = visible(line.curves, plot.scales.x.min / TIME_FACTOR, plot.scales.x.max / TIME_FACTOR);
    const placeY = (number) => plot.valToPos(number * line.scale, "y", true);
    const color = lineColor(line.index);
    context.globalAlpha = line.which === 0 ? 1 : 0.6;
    fillBand(context, line.curves, line.row, range, placeX, placeY, color);
    const widths = [1.5, 3.5];
    strokeCurve(context, line.curves, line.row, range, placeX, placeY,
      { color, width: widths[line.which] * window.devicePixelRatio });
  }
  context.restore();
}

function rangeY(_, least, most) {
  if (least === null || most === null) return [0, 1];
  return [Math.min(0, least * 1.05), most > 0 ? most * 1.08 : 1];
}

const CHART_TITLES = { "B/s": "Bytes a second", "%": "Shares", ns: "Latencies", "/s": "Rates", cycles: "Cycles", ratio: "Ratios",
  count: "Counts", B: "Bytes", Hz: "Frequencies", s: "Times" };

/** The figures of a chart's lines. */
function courseTable(title, lines, name) {
  const rows = lines.map((line) => {
    const { least, mean, most, count, mostAt, doubts } = course(line.row);
    const shown = (number) => (count ? `${digits(number)} ${line.row.symbol}`.trim() : "no number");
    return [name(line), shown(least), shown(mean), shown(most), count ? shownTime(line.curves.ends[mostAt]) : "-",
      doubts.map((mark) => MARK_WORDS[mark]).join(", ") || "measured"];
  });
  return table(`${title} over the whole time`, ["name", "least", "mean of points", "most", "most at", "validity"], [1, 2, 3, 4],
    rows);
}

const plotData = (times, lines) => [times, ...lines.map((line) => times.map((time) => numberAt(line, time)))];

/** A chart with a box for each of its rows, which shows its number under the cursor, and its figures as a table. */
function makeChart(group) {
  const { lines } = group;
  const values = lines.map(() => element("span", {}));
  const both = DATA.recordings.length > 1;
  const name = (line) => line.row.name + (both ? [" (first)", " (second)"][line.which] : "");
  const swatches = lines.map(() => element("span", { class: "swatch" }));
  const boxes = lines.map((line, at) => {
    const box = element("input", { type: "checkbox", checked: line.isShown });
    box.addEventListener("change", () => {
      line.isShown = box.checked;
      plot.setSeries(at + 1, { show: box.checked });
      plot.redraw();
    });
    return element("label", {}, box, swatches[at], name(line), " ", values[at]);
  });
  const title = CHART_TITLES[group.unit] ?? group.unit;
  const legend = element("legend", {});
  const canvasHolder = element("div", { tabIndex: 0, role: "group" });
  canvasHolder.addEventListener("keydown", onKey);
  const tableHolder = element("div", {});
  /** All that is said of the numbers. */
  const describe = () => {
    legend.textContent = group.symbol && group.symbol !== group.unit ? `${title}, in ${group.symbol}` : title;
    canvasHolder.setAttribute("aria-label", `Chart: ${title}. ${lines.map((line) => courseWords(line.row)).join(". ")}`);
    replaceIn(tableHolder, courseTable(title, lines, name));
  };
  describe();
  byId("charts").append(element("div", { class: "chart" },
    element("fieldset", { class: "series" }, legend, ...boxes),
    canvasHolder,
    element("details", {}, element("summary", {}, `${title} as a table`), tableHolder)));
  const plot = new uPlot({
    width: canvasHolder.clientWidth, height: CHART_HEIGHT, legend: { show: false },
    cursor: { drag: { x: true, y: false }, sync: { key: "time" }, points: { show: false } },
    scales: { x: { time: false, range: (_, from, to) => (from === null ? FULL : [from, to]) }, y: { range: rangeY } },
    axes: axisOptions(),
    // uPlot keeps scales and cursor; the lines are drawn by us, since their form tells how valid they are.
    series: [{}, ...lines.map((line) => ({ label: name(line), show: line.isShown, paths: () => null, points: { show: false } }))],
    hooks: {
      draw: [(self) => drawLines(self, lines)],
      setScale: [(self, key) => key === "x" && zoom(self.scales.x.min, self.scales.x.max)],
      setCursor: [(self) => {
        const time = self.cursor.idx === null || self.cursor.left < 0 ? null : self.data[0][self.cursor.idx];
        lines.forEach((line, at) => {
          const bucket = time === null ? -1 : bucketAt(line.curves, time / TIME_FACTOR);
          values[at].textContent = bucket < 0 ? "" : words(line.row, bucket);
        });
      }],
    },
  }, plotData(allTimes(), lines), canvasHolder);
  plot.root.querySelectorAll("canvas").forEach((canvas) => canvas.setAttribute("aria-hidden", "true"));
  ZOOMS.push(([min, max]) => plot.setScale("x", { min, max }));
  REDRAWS.push(() => {
    swatches.forEach((swatch, at) => { swatch.style.background = lineColor(lines[at].index); });
    plot.setSize({ width: canvasHolder.clientWidth, height: CHART_HEIGHT });
    plot.redraw();
  });
  REFRESHES.push((times) => {
    setSymbol(group);
    describe();
    plot.setData(plotData(times, lines), false);
    plot.redraw();
  });
}

/** The whole time in small, with a box around what the charts show. */
function makeBrush(group) {
  const lines = group.lines.slice(0, 1).map((line) => ({ ...line, isShown: true }));
  const ofLines = { lines };
  const holder = element("div", { tabIndex: 0, role: "group",
    "aria-label": "The whole time in small: drag a box, or use + and -, arrows and 0, to choose the part that is shown" });
  holder.addEventListener("keydown", onKey);
  byId("brush").append(holder);
  const plot = new uPlot({
    width: holder.clientWidth, height: BRUSH_HEIGHT, legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
    scales: { x: { time: false, range: () => FULL }, y: { range: rangeY } },
    axes: axisOptions().map((axis, at) => ({ ...axis, show: true, size: at === 1 ? 70 : 30, values: at === 1 ? () => [] : axis.values })),
    series: [{}, ...lines.map((line) => ({ label: line.row.name, paths: () => null, points: { show: false } }))],
    hooks: {
      draw: [(self) => drawLines(self, lines)],
      setSelect: [(self) => {
        const { left, width } = self.select;
        if (width > 2) zoom(self.posToVal(left, "x"), self.posToVal(left + width, "x"));
      }],
    },
  }, plotData(allTimes(), lines), holder);
  plot.root.querySelectorAll("canvas").forEach((canvas) => canvas.setAttribute("aria-hidden", "true"));
  const follow = ([from, to]) => {
    const [left, right] = [plot.valToPos(from, "x"), plot.valToPos(to, "x")];
    plot.setSelect({ left, top: 0, width: right - left, height: plot.over.clientHeight }, false);
  };
  plot.over.addEventListener("dblclick", () => zoom(...FULL));
  ZOOMS.push(follow);
  REDRAWS.push(() => {
    plot.setSize({ width: holder.clientWidth, height: BRUSH_HEIGHT });
    plot.redraw();
    follow(VIEW);
  });
  REFRESHES.push((times) => {
    setSymbol(ofLines);
    plot.setData(plotData(times, lines));
  });
}

function showOverTime() {
  const groups = chartGroups().filter(({ lines }) => lines.length > 0);
  const notes = DATA.recordings.map(({ name, whole }) => (DATA.recordings.length > 1 ? `${name}: ` : "") + bucketWords(whole));
  if (DATA.recordings.length > 1) notes.push("Of two recordings the second is the broad, pale line; both begin at 0.");
  byId("time-note").textContent = notes.join(" ");
  if (groups.length) makeBrush(groups[0]);
  groups.forEach(makeChart);
  byId("time-unit").textContent = DATA.live ? `s since ${shownTime(0)}` : TIME_UNIT;
  for (const [id, act] of [["zoom-in", "+"], ["zoom-out", "-"], ["earlier", "ArrowLeft"], ["later", "ArrowRight"], ["all", 0]]) {
    byId(id).addEventListener("click", KEYS[act]);
  }
  const typed = () => zoom(byId("from").valueAsNumber, byId("to").valueAsNumber);
  ["from", "to"].forEach((id) => byId(id).addEventListener("change", typed));
}
