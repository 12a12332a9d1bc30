// Puts the API's words on the page, with its times in the time of whoever looks.

import { element } from "./element.js";
import { onTheClock } from "./times.js";

const TIME = /(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d) UTC/g;
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** The words as nodes: text, and a `time` for every "14:05 UTC" in them. A time without a date is of the day of `now` in UTC. */
export function wordNodes(words, now = new Date()) {
  const nodes = [];
  let end = 0;
  for (const found of words.matchAll(TIME)) {
    const [all, date = now.toISOString().slice(0, 10), clock] = found;
    const moment = new Date(`${date}T${clock}:00Z`);
    if (Number.isNaN(moment.getTime())) continue;
    const told = element("time", { datetime: moment.toISOString(), title: WHOLE.format(moment) }, onTheClock(moment, now));
    nodes.push(words.slice(end, found.index), told);
    end = found.index + all.length;
  }
  return [...nodes, words.slice(end)].filter((node) => node !== "");
}

/** Whom a document is about: "everybody in acme", "alice only", "project essay", "session s-1". */
export function whom({ scope, scopeId, tenantId }) {
  switch (scope) {
    case "GLOBAL":
      return "everybody everywhere";
    case "TENANT":
      return `everybody in ${tenantId}`;
    case "PROJECT":
      return `project ${scopeId}`;
    case "USER":
      return `${scopeId} only`;
    default:
      return `session ${scopeId} only`;
  }
}

const CLASSES = {
  TECHNICALLY_BROKEN: "the tool is broken",
  USER_SPECIFIC_TECHNICAL: "an account or credential of the user",
  USER_PERMISSION: "a permission is missing",
  USER_INPUT: "what the tool was asked",
  INTERMITTENT: "it fails now and then",
  WORKING: "it works",
  UNCLEAR: "the cause is unclear",
};

/** A classification in plain words. */
export const classInWords = (classification) => CLASSES[classification] ?? classification ?? "";

/** "3 errors", "1 error". */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
