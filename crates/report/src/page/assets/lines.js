// Lines whose form says how far their numbers can be trusted.
"use strict";

const DASHES = { " ": [], "~": [6, 4], "?": [2, 4] };
const MARK_ORDER = " ~?!";
/** So many marked points at most have their marks beside them; more would cover the line. */
const MOST_MARKS = 60;

const worstMark = (one, other) => (MARK_ORDER.indexOf(one) > MARK_ORDER.indexOf(other) ? one : other);

/** Which buckets of a curve end between two times, and the one before and behind. */
function visible(curves, from, to) {
  const count = curves.ends.length;
  let first = 0;
  while (first < count && curves.ends[first] < from) first++;
  let last = first;
  while (last < count && curves.ends[last] <= to) last++;
  return [Math.max(first - 1, 0), Math.min(last + 2, count)];
}

/** The middle of a bucket, in seconds. */
const middle = (curves, at) => ((at > 0 ? curves.ends[at - 1] : curves.begin) + curves.ends[at]) / 2;

/** The band from least to most of a row whose buckets have several samples. */
function fillBand(context, curves, row, range, placeX, placeY, color) {
  if (!row.least) return;
  context.save();
  context.globalAlpha = 0.22;
  context.fillStyle = color;
  for (let at = range[0]; at < range[1]; at++) {
    if (row.most[at] === null) continue;
    const [left, right] = [placeX(at > 0 ? curves.ends[at - 1] : curves.begin), placeX(curves.ends[at])];
    const [top, bottom] = [placeY(row.most[at]), placeY(row.least[at])];
    context.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
  }
  context.restore();
}

/**
 * Draws a row. Between two numbers the line is plain only if both are plainly measured; where there is no number there is
 * a gap.
 */
function strokeCurve(context, curves, row, range, placeX, placeY, { color, width = 1.5, marks = true }) {
  const paths = { " ": new Path2D(), "~": new Path2D(), "?": new Path2D() };
  const marked = [];
  let before = null;
  for (let at = range[0]; at < range[1]; at++) {
    const number = row.mean[at];
    if (number === null) {
      before = null;
      continue;
    }
    const here = { x: placeX(middle(curves, at)), y: placeY(number), mark: row.marks[at] };
    if (before) {
      const path = paths[worstMark(before.mark, here.mark)];
      path.moveTo(before.x, before.y);
      path.lineTo(here.x, here.y);
    }
    const isLone = !before && (at + 1 >= row.mean.length || row.mean[at + 1] === null);
    if (isLone || here.mark !== " ") marked.push({ ...here, isLone });
    before = here;
  }
  context.save();
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = width;
  for (const [mark, path] of Object.entries(paths)) {
    context.setLineDash(DASHES[mark].map((dash) => dash * width));
    context.stroke(path);
  }
  context.setLineDash([]);
  const few = marks && marked.length <= MOST_MARKS;
  context.font = `${8 * width}px sans-serif`;
  for (const { x, y, mark, isLone } of marked) {
    if (!few && !isLone) continue;
    context.beginPath();
    context.arc(x, y, 2 * width, 0, 2 * Math.PI);
    if (mark === " ") context.fill(); else context.stroke();
    if (few && mark === "?") context.fillText("?", x + 2 * width, y - 3 * width);
  }
  context.restore();
}
