// Draws the last day of a document as a strip, and says the same in words.

import { svg } from "./element.js";
import { STATE_NAMES } from "./summary.js";
import { onTheClock, spanInWords } from "./times.js";

export const DAY_MS = 24 * 3_600_000;
const WIDTH = 1_000;
const HEIGHT = 12;
const STATE_OF_STATUS = { OK: "ok", DEGRADED: "degraded", DOWN: "down" };
const MOST_TOLD = 4;

/** [{state, from, to}] from `now` − 24 h to `now`, in ms; "unknown" before the first thing that is known. */
export function segmentsOf(reading, now) {
  const start = now - DAY_MS;
  const changes = [...(reading.health.history ?? [])]
    .map((entry) => ({ at: new Date(entry.at).getTime(), state: STATE_OF_STATUS[entry.status] ?? "unknown" }))
    .concat(byTime(reading, now))
    .sort((one, other) => one.at - other.at);
  const segments = [];
  let state = "unknown";
  let from = start;
  for (const change of changes) {
    const at = Math.min(change.at, now);
    if (at > from) {
      add(segments, state, from, at);
      from = at;
    }
    state = change.state;
  }
  add(segments, state, from, now);
  return segments;
}

/** What time alone has changed, which no entry tells: nobody believes it any more, or it was told to be over by now. */
function byTime({ health, status, unconfirmedSince }, now) {
  if (unconfirmedSince) return [{ at: new Date(unconfirmedSince).getTime(), state: "unknown" }];
  const over = [health.override?.until, health.verdict?.expectedRecoveryAt]
    .filter(Boolean)
    .map((end) => new Date(end).getTime())
    .filter((end) => end <= now);
  return over.map((at) => ({ at, state: STATE_OF_STATUS[status] }));
}

function add(segments, state, from, to) {
  const last = segments.at(-1);
  if (last && last.state === state) last.to = to;
  else segments.push({ state, from, to });
}

/** The segments in one sentence. */
export function segmentsInWords(segments, now) {
  const name = (state) => (STATE_NAMES[state] ?? "Not known").toLowerCase();
  const told = segments.slice(-MOST_TOLD).map(({ state, from, to }, index, all) => {
    if (segments.length === 1) return `${name(state)} all the time`;
    if (index === all.length - 1) return `${name(state)} since ${onTheClock(from, now)}`;
    return `${name(state)} for ${spanInWords((to - from) / 1000) ?? "a moment"} until ${onTheClock(to, now)}`;
  });
  const earlier = segments.length > MOST_TOLD ? `${segments.length - MOST_TOLD} earlier changes, then ` : "";
  return `Last 24 hours: ${earlier}${told.join(", ")}`;
}

/** The strip as a picture with its sentence. */
export function stripOf(reading, now = new Date()) {
  const segments = segmentsOf(reading, now.getTime());
  const x = (moment) => ((moment - (now.getTime() - DAY_MS)) / DAY_MS) * WIDTH;
  const picture = { class: "strip", role: "img", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" };
  return svg(
    "svg",
    { ...picture, "aria-label": segmentsInWords(segments, now) },
    segments.map(({ state, from, to }) => {
      const width = Math.max(3, x(to) - x(from)); // what was short is still seen
      return svg("rect", { class: `on-${state}`, x: Math.min(x(from), WIDTH - width), y: 0, width, height: HEIGHT });
    }),
  );
}
