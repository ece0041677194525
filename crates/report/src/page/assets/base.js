// What all parts of the page use: the data, elements, numbers and colours.
// Texts come from recordings. They reach the page by textContent alone, never as HTML.
"use strict";

/** What is shown; a server's page replaces parts of it. */
let DATA = null;
const NO_NUMBER = "!";
const MARK_WORDS = { " ": "measured", "~": "scaled", "?": "suspect", "!": "no number", "^": "limit" };

const byId = (id) => document.getElementById(id);

/** A new element with properties and children; a child that is no node becomes text. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A table with a caption and a heading; columns that are `numeric` are aligned at the right. */
function table(caption, heading, numeric, rows) {
  const cell = (kind, text, at, extra) =>
    element(kind, { class: numeric.includes(at) ? "number" : "", ...extra }, text);
  const head = element("tr", {}, ...heading.map((text, at) => cell("th", text, at, { scope: "col" })));
  const body = rows.map((row) => element("tr", {}, ...row.map((text, at) => cell("td", text, at))));
  const made = element("table", {}, element("caption", { class: "soft" }, caption), element("thead", {}, head),
    element("tbody", {}, ...body));
  return element("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": caption }, made);
}

const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Four digits, as people compare them. */
function digits(number) {
  if (number === null || number === undefined) return "no number";
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return number.toExponential(2);
  return number.toLocaleString("en", { maximumFractionDigits: size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3 });
}

/** The time's unit fits what was recorded: a software machine's run may be over within a microsecond. */
let [TIME_FACTOR, TIME_UNIT] = [1, "s"];
/** The time that there is, and the part of it that is shown, in the page's unit. */
let FULL = [0, 1];
let VIEW = [0, 1];

function setSpan() {
  const whole = DATA.recordings.map((recording) => recording.whole);
  const longest = Math.max(...whole.map((curves) => curves.ends.at(-1) ?? 0));
  if (!DATA.live) [TIME_FACTOR, TIME_UNIT] = longest >= 1 ? [1, "s"] : longest >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  FULL = [Math.min(...whole.map((curves) => curves.begin)) * TIME_FACTOR, longest * TIME_FACTOR];
}

const shownSpan = (seconds) => `${digits(seconds * TIME_FACTOR)} ${TIME_UNIT}`;
/** A time; of a server, the time of day. */
const shownTime = (seconds) => DATA.live
  ? new Date((DATA.live.began + seconds) * 1000).toLocaleTimeString("en-GB") : shownSpan(seconds);

/** Gives each row of the curves its marks one by one, and a short name. */
function prepare(curves) {
  for (const row of curves.rows) {
    row.marks = row.marks.flatMap(([mark, times]) => Array(times).fill(mark));
    row.label = row.instance === null ? row.name : `S${row.socket} ${row.instance}`;
  }
}

function setData(data) {
  DATA = data;
  DATA.recordings.forEach((recording) => [recording.whole, recording.by_unit].forEach(prepare));
  setSpan();
}

/** Replaces what is in an element; what had the focus has it again. */
function replaceIn(root, ...children) {
  const reached = () => [...root.querySelectorAll("summary, [tabindex], input")];
  const at = reached().indexOf(document.activeElement);
  const open = [...root.querySelectorAll("details")].map((details) => details.open);
  root.replaceChildren(...children);
  root.querySelectorAll("details").forEach((details, index) => { details.open = open[index] ?? details.open; });
  reached()[at]?.focus({ preventScroll: true });
}

/** A number of a row in words, with its mark. */
function words(row, at) {
  const number = row.mean[at];
  if (number === null || number === undefined) return `no number ${NO_NUMBER}`;
  return `${digits(number)} ${row.symbol} ${row.marks[at]}`.trim();
}

/** Least, mean and most of a row over some buckets, and where the most is. */
function course(row, from = 0, to = row.mean.length) {
  let [least, most, sum, count, mostAt] = [Infinity, -Infinity, 0, 0, -1];
  const doubts = new Set();
  for (let at = from; at < to; at++) {
    if (row.marks[at] !== " ") doubts.add(row.marks[at]);
    if (row.mean[at] === null) continue;
    const top = row.most ? row.most[at] : row.mean[at];
    least = Math.min(least, row.least ? row.least[at] : row.mean[at]);
    if (top > most) [most, mostAt] = [top, at];
    sum += row.mean[at];
    count += 1;
  }
  return { least, most, mean: count ? sum / count : null, count, mostAt, doubts: [...doubts].sort() };
}

/** In words what a chart of a row shows. */
function courseWords(row) {
  const { least, most, mean, count, doubts } = course(row);
  if (count === 0) return `${row.label}: no number`;
  const doubt = doubts.length ? `; ${doubts.map((mark) => MARK_WORDS[mark]).join(", ")}` : "";
  return `${row.label}: least ${digits(least)}, mean ${digits(mean)}, most ${digits(most)} ${row.symbol}${doubt}`;
}

/** The bucket that has a time, in seconds; -1 if there is none. */
function bucketAt(curves, seconds) {
  if (seconds < curves.begin) return -1;
  let [low, high] = [0, curves.ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curves.ends[middle] < seconds) low = middle + 1; else high = middle;
  }
  return low < curves.ends.length ? low : -1;
}

/** What a bucket of several samples is. */
function bucketWords(curves) {
  return curves.samples === 1 ? "Each point is one sample."
    : `Downsampled: each point is up to ${curves.samples} samples, the line their mean, the band from least to most.`;
}

// Colours that also the colour-blind tell apart: Okabe and Ito's for lines, darker ones where the ground is white.
const LINE_COLORS = {
  light: ["#0072b2", "#b34700", "#007a5a", "#a0448c", "#8a6500", "#2f7fb0", "#333333"],
  dark: ["#56b4e9", "#ff8c42", "#2fc59b", "#e59ac9", "#f0e442", "#8ecbff", "#dddddd"],
};
const lineColor = (index) => {
  const colors = LINE_COLORS[document.documentElement.dataset.theme];
  return colors[index % colors.length];
};

// Viridis at nine points: lightness rises evenly, so it also works in print.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37]];

/** The colour of a share between 0 and 1, as red, green and blue. */
function mapColor(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const at = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return VIRIDIS[at].map((one, part) => Math.round(one + (VIRIDIS[at + 1][part] - one) * (place - at)));
}

/** Black or white, whichever is read better on a colour (WCAG's relative luminance). */
function inkOn(color) {
  const linear = color.map((part) => (part / 255 <= 0.04045 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" : "#ffffff";
}

/** A canvas's context in CSS pixels, sharp on any screen. */
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

// What is drawn anew when the theme or the width changes.
const REDRAWS = [];
function redrawAll() {
  REDRAWS.forEach((redraw) => redraw());
}

// What is made anew when there are newer numbers.
const REFRESHES = [];
