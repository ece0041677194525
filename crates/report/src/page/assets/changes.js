// What changed from the first recording to the second, and what of it may be chance.
"use strict";

const percent = (share) => `${share > 0 ? "+" : ""}${digits(share * 100)} %`;

function changeWords(change) {
  if (change.change === null) return "-";
  return (change.may_be_chance ? "~" : "") + percent(change.change);
}

function verdict(change) {
  if (change.change === null) return "cannot be compared";
  if (change.may_be_chance === null) return "one interval: confidence not known";
  return change.may_be_chance ? "may be chance" : change.change === 0 ? "the same" : "beyond chance";
}

/** The change as a dot, and around it what may be chance as a bar, on a scale that all rows share. */
function drawChange(canvas, change, widest) {
  const [width, height] = [220, 22];
  const context = sharp(canvas, width, height);
  const place = (share) => width / 2 + (Math.min(Math.max(share / widest, -1), 1) * (width - 16)) / 2;
  context.strokeStyle = cssColor("--rule");
  context.beginPath();
  context.moveTo(width / 2, 0);
  context.lineTo(width / 2, height);
  context.stroke();
  if (change.change === null) return;
  const color = change.may_be_chance === false ? lineColor(change.change < 0 ? 0 : 1) : cssColor("--soft");
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 2;
  if (change.error !== null) {
    context.beginPath();
    context.moveTo(place(change.change - change.error), height / 2);
    context.lineTo(place(change.change + change.error), height / 2);
    context.stroke();
  }
  context.beginPath();
  context.arc(place(change.change), height / 2, 5, 0, 2 * Math.PI);
  // Hollow where there is doubt.
  if (change.may_be_chance === false) context.fill(); else context.stroke();
}

function showChanges() {
  if (DATA.changes.length === 0) return;
  byId("changes-section").hidden = false;
  const reach = (change) => Math.abs(change.change ?? 0) + Math.min(change.error ?? 0, 1);
  const widest = Math.min(Math.max(...DATA.changes.map(reach), 0.01), 2);
  const canvases = DATA.changes.map((change) =>
    element("canvas", { role: "img", "aria-label": `${change.name}: ${changeWords(change)}, ${verdict(change)}` }));
  const rows = DATA.changes.map((change, at) => [change.name, `${change.first} ${change.first_mark}`.trim(),
    `${change.second} ${change.second_mark}`.trim(), changeWords(change),
    change.error === null ? "-" : `${digits(change.error * 100)} %`, canvases[at], verdict(change)]);
  byId("changes").append(
    element("p", {}, `A change within ${DATA.chance} standard errors of both recordings together, which follow from how far `
      + "the intervals of each lie apart, may be chance. The bar around a dot is that wide; the picture's edges are at "
      + `${percent(-widest)} and ${percent(widest)}.`),
    table("Each row of both recordings", ["name", "first", "second", "change", "within chance", "picture", "verdict"],
      [1, 2, 3, 4], rows));
  const draw = () => DATA.changes.forEach((change, at) => drawChange(canvases[at], change, widest));
  draw();
  REDRAWS.push(draw);
}
