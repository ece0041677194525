// The units of one kind beside each other: a grid at one time, a map over time, and small charts on one scale.
"use strict";

const GUTTER = 84;

/** What is shown: recording, metric, and the bucket of the slider. */
const UNITS = { curves: null, rows: [], at: 0, least: 0, most: 1 };

function metricsByUnit(curves) {
  const counts = new Map();
  curves.rows.forEach((row) => counts.set(row.name, (counts.get(row.name) ?? 0) + 1));
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name);
}

const shareOf = (number) => (number - UNITS.least) / (UNITS.most - UNITS.least || 1);

function chooseUnits() {
  const recording = DATA.recordings[Number(byId("unit-recording").value) || 0];
  UNITS.curves = recording.by_unit;
  UNITS.rows = recording.by_unit.rows.filter((row) => row.name === byId("unit-metric").value);
  const courses = UNITS.rows.map((row) => course(row)).filter(({ count }) => count > 0);
  UNITS.least = Math.min(0, ...courses.map(({ least }) => least));
  UNITS.most = Math.max(...courses.map(({ most }) => most), UNITS.least);
  const slider = byId("slider");
  slider.max = Math.max(UNITS.curves.ends.length - 1, 0);
  UNITS.at = Math.min(UNITS.at, Number(slider.max));
  slider.value = UNITS.at;
  showMultiples();
  showAt();
}

/** A grid of the units at the slider's time; it is also the map's text. */
function showAt() {
  const { curves, rows, at } = UNITS;
  const from = at > 0 ? curves.ends[at - 1] : curves.begin;
  const time = `${shownTime(from)} to ${shownTime(curves.ends[at])}`;
  byId("slider-time").textContent = time;
  byId("slider").setAttribute("aria-valuetext", time);
  const sockets = [...new Set(rows.map((row) => row.socket))];
  byId("grid").replaceChildren(...sockets.flatMap((socket) => {
    const cells = rows.filter((row) => row.socket === socket).map((row) => {
      const [number, mark] = [row.mean[at] ?? null, row.marks[at]];
      const cell = element("li", { class: number === null ? "none" : mark === " " ? "" : "doubt" },
        element("strong", {}, row.instance), ` ${words(row, at)}`);
      if (number !== null) {
        const color = mapColor(shareOf(number));
        cell.style.background = `rgb(${color})`;
        cell.style.color = inkOn(color);
        cell.style.borderColor = mark === " " ? "transparent" : inkOn(color);
      }
      return cell;
    });
    return [element("h3", {}, `Socket ${socket}`), element("ul", { class: "grid" }, ...cells)];
  }));
  drawHeat();
}

/** Stripes over what is not plainly measured. */
function stripes(context, mark) {
  const tile = element("canvas", { width: 6, height: 6 });
  const pen = tile.getContext("2d");
  pen.strokeStyle = "#ffffff";
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(0, 6);
  pen.lineTo(6, 0);
  if (mark === "?") {
    pen.moveTo(0, 0);
    pen.lineTo(6, 6);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

function drawHeat() {
  const { curves, rows, at } = UNITS;
  const canvas = byId("heat");
  const rowHeight = rows.length > 32 ? 11 : 18;
  const width = Math.max(canvas.parentElement.clientWidth, 480);
  const context = sharp(canvas, width, rows.length * rowHeight + 20);
  const [from, to] = VIEW.map((time) => time / TIME_FACTOR);
  const place = (seconds) => GUTTER + ((Math.min(Math.max(seconds, from), to) - from) / (to - from)) * (width - GUTTER);
  const patterns = { "~": stripes(context, "~"), "?": stripes(context, "?") };
  const range = visible(curves, from, to);
  context.font = `${rowHeight > 12 ? 12 : 9}px sans-serif`;
  context.textBaseline = "middle";
  rows.forEach((row, line) => {
    const top = line * rowHeight;
    context.fillStyle = cssColor("--ink");
    context.fillText(row.label, 0, top + rowHeight / 2);
    for (let bucket = range[0]; bucket < range[1]; bucket++) {
      const left = place(bucket > 0 ? curves.ends[bucket - 1] : curves.begin);
      const right = place(curves.ends[bucket]);
      if (right <= left || row.mean[bucket] === null) continue;
      context.fillStyle = `rgb(${mapColor(shareOf(row.mean[bucket]))})`;
      context.fillRect(left, top, right - left + 0.5, rowHeight - 1);
      if (row.marks[bucket] === " ") continue;
      context.fillStyle = patterns[row.marks[bucket]];
      context.globalAlpha = 0.55;
      context.fillRect(left, top, right - left + 0.5, rowHeight - 1);
      context.globalAlpha = 1;
    }
  });
  const cursor = place(middle(curves, at));
  context.fillStyle = cssColor("--alarm-ink");
  context.fillRect(cursor - 1, 0, 2, rows.length * rowHeight);
  context.fillStyle = cssColor("--ink");
  context.fillText(shownTime(from), GUTTER, rows.length * rowHeight + 12);
  const end = shownTime(to);
  context.fillText(end, width - context.measureText(end).width - 2, rows.length * rowHeight + 12);
  const symbol = rows[0]?.symbol ?? "";
  byId("heat-scale").textContent = `Dark is ${digits(UNITS.least)}, light is ${digits(UNITS.most)} ${symbol}. Stripes: scaled; `
    + `crossed: suspect or withdrawn; no colour: no number. The line is the slider's time. ${bucketWords(curves)}`;
  canvas.setAttribute("aria-label", `Map over time of ${byId("unit-metric").value}. ${hottestWords()}`);
}

/** The answer that the map is for. */
function hottestWords() {
  const courses = UNITS.rows.map((row) => ({ row, ...course(row) })).filter(({ count }) => count > 0);
  if (courses.length === 0) return "No unit has a number.";
  const most = courses.reduce((one, other) => (other.mean > one.mean ? other : one));
  const mean = courses.reduce((sum, one) => sum + one.mean, 0) / courses.length;
  const { symbol } = most.row;
  return `Highest mean: ${most.row.label} with ${digits(most.mean)} ${symbol}; mean of all ${courses.length}: ${digits(mean)} ${symbol}.`;
}

/** A small chart for each unit, all on one scale. */
function showMultiples() {
  const { rows } = UNITS;
  const canvases = rows.map((row) => element("canvas", { role: "img", "aria-label": courseWords(row) }));
  const figures = rows.map((row, at) => {
    const { least, most, mean, count, doubts } = course(row);
    const figure = count ? `mean ${digits(mean)}, ${digits(least)} to ${digits(most)} ${row.symbol} ${doubts.join("")}` : "no number !";
    return element("figure", {}, canvases[at], element("figcaption", {}, element("strong", {}, row.label), ` ${figure}`));
  });
  byId("multiples").replaceChildren(...figures);
  UNITS.canvases = canvases;
  drawMultiples();
}

function drawMultiples() {
  const { curves, rows, least, most } = UNITS;
  const [from, to] = VIEW.map((time) => time / TIME_FACTOR);
  rows.forEach((row, at) => {
    const canvas = UNITS.canvases[at];
    const [width, height] = [Math.max(canvas.parentElement.clientWidth, 120), 56];
    const context = sharp(canvas, width, height);
    context.strokeStyle = cssColor("--rule");
    context.strokeRect(0.5, 0.5, width - 1, height - 1);
    const placeX = (seconds) => ((seconds - from) / (to - from)) * width;
    const placeY = (number) => height - 3 - ((number - least) / (most - least || 1)) * (height - 6);
    const range = visible(curves, from, to);
    fillBand(context, curves, row, range, placeX, placeY, lineColor(0));
    strokeCurve(context, curves, row, range, placeX, placeY, { color: lineColor(0), width: 1.2, marks: false });
  });
}

function showUnits() {
  const metrics = [...new Set(DATA.recordings.flatMap((recording) => metricsByUnit(recording.by_unit)))];
  if (metrics.length === 0) return;
  byId("units-section").hidden = false;
  byId("unit-metric").append(...metrics.map((name) => element("option", { value: name }, name)));
  byId("unit-recording").append(...DATA.recordings.map((recording, at) =>
    element("option", { value: String(at) }, `${at + 1}: ${recording.name}`)));
  byId("unit-recording-label").hidden = DATA.recordings.length < 2;
  ["unit-metric", "unit-recording"].forEach((id) => byId(id).addEventListener("change", chooseUnits));
  byId("slider").addEventListener("input", () => {
    UNITS.at = Number(byId("slider").value);
    showAt();
  });
  byId("heat").addEventListener("click", (event) => {
    const { left, width } = byId("heat").getBoundingClientRect();
    const share = (event.clientX - left - GUTTER) / (width - GUTTER);
    const at = bucketAt(UNITS.curves, (VIEW[0] + share * (VIEW[1] - VIEW[0])) / TIME_FACTOR);
    if (at < 0) return;
    UNITS.at = at;
    byId("slider").value = at;
    showAt();
  });
  chooseUnits();
  // The slider stays at its time, or at the newest.
  REFRESHES.push((_, dropped) => {
    const slider = byId("slider");
    const isNewest = UNITS.at === Number(slider.max);
    UNITS.at = isNewest ? Infinity : Math.max(UNITS.at - dropped, 0);
    chooseUnits();
  });
  const draw = () => {
    drawHeat();
    drawMultiples();
  };
  ZOOMS.push(draw);
  REDRAWS.push(draw);
}
