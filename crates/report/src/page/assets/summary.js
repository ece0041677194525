// The summary: what `pericore report` prints.
"use strict";

function summaryFigure({ words, share }) {
  if (share === null) return element("li", {}, words);
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("span", {}));
  bar.firstChild.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
  return element("li", { class: "big" }, words, bar);
}

function recordingSummary(recording, which) {
  const side = element("div", {});
  if (which) side.append(element("h3", {}, `${which}: ${recording.name}`));
  side.append(element("p", {}, recording.title));
  const count = DATA.live ? `sample ${DATA.live.samples.toLocaleString("en")}`
    : `${recording.intervals} ${recording.intervals === 1 ? "sample" : "samples"}`;
  const about = [count, `${recording.stood ? "at most " : ""}${shownSpan(recording.seconds)}`,
    recording.host && `host ${recording.host}`, recording.started && `started ${recording.started}`,
    `${DATA.live ? "measured" : "recorded"} by pericore ${recording.pericore}`];
  side.append(element("p", { class: "soft" }, about.filter(Boolean).join(" | ")));
  side.append(element("ul", { class: "figures" }, ...recording.figures.map(summaryFigure)));
  if (recording.limits.length) {
    side.append(element("p", {}, "Limits that are reached:"),
      element("ul", {}, ...recording.limits.map((limit) => element("li", {}, limit))));
  }
  const rows = recording.rows.map((row) => [`${row.value} ${row.mark}`.trim(), row.name, row.validity ?? "measured"]);
  const doubts = recording.rows.filter((row) => row.validity !== null).length;
  const validity = doubts ? `${rows.length - doubts} of ${rows.length} plainly measured` : "all plainly measured";
  side.append(element("details", { open: rows.length <= 24 },
    element("summary", {}, `All ${rows.length} figures: ${validity}`),
    table(DATA.live ? "Event or metric in the newest sample" : "Event or metric over the whole time", ["value", "name", "validity"], [0], rows)));
  return side;
}

function showSummary() {
  const both = DATA.recordings.length > 1;
  const sides = DATA.recordings.map((recording, at) => recordingSummary(recording, both && ["First", "Second"][at]));
  replaceIn(byId("summary"), element("div", { class: both ? "sides" : "" }, ...sides));
  const emulated = DATA.recordings.map((recording) => recording.emulated);
  if (emulated.some((preset) => preset !== null)) {
    const only = emulated.includes(null) ? (emulated[0] === null ? "second only: " : "first only: ") : "";
    byId("emulated").textContent = `EMULATED: ${only}${[...new Set(emulated.filter(Boolean))].join(", ")}`;
    byId("emulated").hidden = false;
  }
  byId("made").textContent = DATA.live ? `Served by pericore ${DATA.pericore}. /metrics has the numbers, for Prometheus.`
    : `Made by pericore ${DATA.pericore}. This file needs no network.`;
}
