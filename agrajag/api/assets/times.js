// Says when something is, in the time of whoever looks: by the clock, and how far away.

import { element } from "./element.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** "14:05" today, "Tue 14:05" within six days, "3 Dec, 14:05" within half a year, else the date. */
export function onTheClock(when, now) {
  const moment = new Date(when);
  const days = Math.abs(moment - now) / 1000 / DAY;
  if (moment.toDateString() === now.toDateString()) return CLOCK.format(moment);
  if (days < 6) return WEEKDAY.format(moment).replace(",", "");
  return (days < 180 ? DATE : YEAR).format(moment);
}

/** "just now", "12 min ago", "in 3 h", "in 2 days". */
export function howFar(when, now) {
  const seconds = Math.round((new Date(when) - now) / 1000);
  const span = spanInWords(Math.abs(seconds));
  if (span === null) return seconds > 0 ? "in a moment" : "just now";
  return seconds > 0 ? `in ${span}` : `${span} ago`;
}

/** "12 min", "3 h", "2 days"; null for what is under half a minute. */
export function spanInWords(seconds) {
  if (seconds < MINUTE / 2) return null;
  if (seconds < 1.5 * HOUR) return `${Math.max(1, Math.round(seconds / MINUTE))} min`;
  if (seconds < 1.5 * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${Math.round(seconds / DAY)} days`;
}

const FORMS = {
  far: howFar,
  clock: onTheClock,
  both: (when, now) => `${onTheClock(when, now)} (${howFar(when, now)})`,
};

/** A time that stays true while it is looked at; the whole date is its tooltip. Null where there is none. */
export function timeOf(when, form = "both") {
  if (!when) return null;
  const words = FORMS[form](when, new Date());
  return element("time", { datetime: when, title: WHOLE.format(new Date(when)), "data-form": form }, words);
}

/** Writes anew the times whose words are no longer true. */
export function refreshTimes(root, now = new Date()) {
  for (const node of root.querySelectorAll("time[data-form]")) {
    const words = FORMS[node.dataset.form](node.dateTime, now);
    if (node.textContent !== words) node.textContent = words;
  }
}
