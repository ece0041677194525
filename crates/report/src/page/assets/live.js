// A server's page: fetches what is new again and again, and shows it.
"use strict";

/** Seconds between two requests, at least and at most, and after one that failed. */
const [LEAST_WAIT, MOST_WAIT, WAIT_AFTER_FAILURE] = [1, 10, 3];
/** Milliseconds that a response may take. */
const PATIENCE = 10_000;

const LIVE = { token: null, isPaused: false, timer: 0, failedAt: null };
const statusLine = element("p", { id: "status", role: "status", class: "soft" });
const tokenPlace = element("div", {});
const theme = byId("theme");
const pause = element("button", { type: "button", id: "pause", "aria-pressed": "false" }, "Pause");

/** It is read out by screen readers: only what changes is said. */
function setStatus(text) {
  if (statusLine.textContent !== text) statusLine.textContent = text;
}

const clock = () => new Date().toLocaleTimeString("en-GB");

/** Puts newer buckets behind those that are there, and drops what the server no longer has; how many that were. */
function merge(curves, newer) {
  const [dropped, kept] = [newer.oldest - curves.oldest, newer.first - curves.oldest];
  const join = (old, added, ratio = 1) =>
    [...old.slice(dropped, kept).map((one) => (one === null || ratio === 1 ? one : one * ratio)), ...(added ?? [])];
  curves.rows.forEach((row, at) => {
    const update = newer.rows[at];
    const ratio = update.factor / row.factor;
    for (const key of ["mean", "least", "most"]) {
      if (row[key] || update[key]) row[key] = join(row[key] ?? [], update[key], ratio);
    }
    row.marks = join(row.marks, update.marks);
    [row.symbol, row.factor] = [update.symbol, update.factor];
  });
  curves.ends = join(curves.ends, newer.ends);
  [curves.begin, curves.oldest] = [newer.begin, newer.oldest];
  return dropped;
}

/** Shows newer numbers; what the user looks at stays: all, the newest part, or a part of the past. */
function update(data) {
  const [recording, newer] = [DATA.recordings[0], data.recordings[0]];
  [newer.whole, newer.by_unit].forEach(prepare);
  const [isAll, isNewest, length] = [VIEW[0] <= FULL[0] && VIEW[1] >= FULL[1], VIEW[1] >= FULL[1], VIEW[1] - VIEW[0]];
  const dropped = merge(recording.by_unit, newer.by_unit);
  merge(recording.whole, newer.whole);
  for (const key of ["title", "seconds", "stood", "figures", "limits", "rows"]) recording[key] = newer[key];
  DATA.live = data.live;
  setSpan();
  showSummary();
  const times = allTimes();
  REFRESHES.forEach((refresh) => refresh(times, dropped));
  if (isAll) zoom(...FULL);
  else if (isNewest) zoom(FULL[1] - length, FULL[1]);
  else zoom(...VIEW);
}

function take(data) {
  if (DATA !== null && data.live.began === DATA.live.began) return update(data);
  // Another server has taken its place.
  if (DATA !== null) return location.reload();
  setData(data);
  document.title = `Pericore: ${data.recordings[0].title}`;
  document.querySelector("main").classList.remove("waiting");
  UNITS.at = Infinity;
  showAll();
}

function askForToken(why) {
  const field = element("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const form = element("form", { class: "controls" }, element("label", {}, "Token ", field),
    element("button", { type: "submit" }, "Show the numbers"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    LIVE.token = field.value.trim();
    tokenPlace.replaceChildren();
    poll();
  });
  tokenPlace.replaceChildren(form);
  setStatus(why);
  field.focus();
}

/** What the server has that is newer; seconds until the next request, or nothing if the user has to do something first. */
async function fetchNewest() {
  const headers = LIVE.token === null ? {} : { Authorization: `Bearer ${LIVE.token}` };
  const response = await fetch(`live.json?after=${DATA?.live.samples ?? 0}`,
    { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (response.status === 401) {
    askForToken(LIVE.token === null ? "This server wants the token of its --token-file."
      : "That is not the token of the server's --token-file.");
    return null;
  }
  if (response.status === 503 && DATA === null) {
    setStatus("Waiting for the first sample.");
    return LEAST_WAIT;
  }
  if (!response.ok) throw new Error(`status ${response.status}`);
  const data = await response.json();
  if (LIVE.isPaused) return null;
  take(data);
  LIVE.failedAt = null;
  setStatus("Live: the last hour.");
  return Math.min(Math.max(data.live.due, LEAST_WAIT), MOST_WAIT);
}

async function poll() {
  clearTimeout(LIVE.timer);
  if (LIVE.isPaused || document.hidden) return;
  let wait = WAIT_AFTER_FAILURE;
  try {
    wait = await fetchNewest();
  } catch (error) {
    LIVE.failedAt ??= clock();
    setStatus(`No numbers since ${LIVE.failedAt} (${error.message}); the page tries again.`);
  }
  clearTimeout(LIVE.timer);
  if (wait !== null) LIVE.timer = setTimeout(poll, wait * 1000);
}

pause.addEventListener("click", () => {
  LIVE.isPaused = !LIVE.isPaused;
  pause.textContent = LIVE.isPaused ? "Resume" : "Pause";
  pause.setAttribute("aria-pressed", String(LIVE.isPaused));
  if (LIVE.isPaused) setStatus(`Paused at ${clock()}.`);
  else poll();
});
document.addEventListener("visibilitychange", poll);
document.querySelector("main").classList.add("waiting");
document.querySelector("main").prepend(statusLine, tokenPlace);
const buttons = element("div", { class: "controls" }, pause);
byId("theme").replaceWith(buttons);
buttons.append(theme);
document.documentElement.dataset.theme = systemDark.matches ? "dark" : "light";
poll();
