// Shows one health document: how it is and for whom, its last day, what is paused, what can be done.

import { element } from "./element.js";
import { markOf } from "./marks.js";
import { stripOf } from "./strip.js";
import { overrideOf, STATE_NAMES, stateOf } from "./summary.js";
import { timeOf } from "./times.js";
import { classInWords, counted, whom, wordNodes } from "./words.js";

/** The card of a reading. `acts` makes the buttons that whoever looks is allowed. */
export function cardOf(reading, acts) {
  const { key, health, words } = reading;
  const state = stateOf(reading);
  const title = element("h2", {}, markOf(state), `For ${whom(health)}`, element("span", { class: "state" }, STATE_NAMES[state]));
  return element(
    "article",
    { class: `card is-${state}`, "data-key": key },
    title,
    element("p", { class: "words" }, wordNodes(words)),
    stripWithScale(reading),
    buttonsOf(reading, acts),
    factsOf(reading),
    cooldownsOf(reading, acts),
    historyOf(key, health.history ?? []),
  );
}

function stripWithScale(reading) {
  const scale = element("p", { class: "scale", "aria-hidden": "true" }, element("span", {}, "24 h ago"), element("span", {}, "now"));
  return element("div", { class: "day" }, stripOf(reading), scale);
}

function buttonsOf(reading, acts) {
  const buttons = [
    acts.button("recheck", reading),
    (reading.calling ?? []).length > 0 && acts.button("clear", reading),
    acts.button("override", reading),
    overrideOf(reading.health) && acts.button("lift", reading),
  ].filter(Boolean);
  return buttons.length > 0 ? element("div", { class: "buttons" }, buttons) : null;
}

function factsOf({ health, unconfirmedSince }) {
  const { verdict = {}, link = {}, counters = {}, lastDiagnosis: diagnosis } = health;
  const override = overrideOf(health);
  const facts = [
    ["Override", override && [`by ${override.by}, `, timeOf(override.at), override.until ? ", until " : "", timeOf(override.until)]],
    ["Connections", link.downSince && ["all closed since ", timeOf(link.downSince)]],
    ["Expected back", timeOf(verdict.expectedRecoveryAt)],
    ["Unconfirmed since", timeOf(unconfirmedSince)],
    ["Last success", timeOf(health.lastSuccessAt)],
    ["Last checked", timeOf(health.lastCheckedAt)],
    ["Last diagnosis", diagnosis && [`${classInWords(diagnosis.classification)}, `, timeOf(diagnosis.at), noteOf(diagnosis.note)]],
    ["Counted", countedOf(counters)],
  ].filter(([, told]) => told);
  return element("dl", { class: "facts" }, facts.map(([name, told]) => element("div", {}, element("dt", {}, name), element("dd", {}, told))));
}

const noteOf = (note) => (note ? element("span", { class: "note" }, note) : null);

function countedOf({ errors = 0, suppressed = 0, coalesced = 0, jobs = 0 }) {
  const parts = [
    errors > 0 && counted(errors, "error"),
    suppressed > 0 && `${suppressed.toLocaleString("en-GB")} met by a cooldown`,
    coalesced > 0 && `${coalesced.toLocaleString("en-GB")} joined a diagnosis`,
    jobs > 0 && counted(jobs, "diagnosis", "diagnoses"),
  ].filter(Boolean);
  return parts.join(", ");
}

function cooldownsOf(reading, acts) {
  const cooling = reading.calling ?? [];
  if (cooling.length === 0) return null;
  const items = cooling.map((one) =>
    element(
      "li",
      {},
      element("div", {}, element("code", {}, one.errorSignature), coolingWords(reading.health, one)),
      acts.button("clearOne", reading, one),
    ),
  );
  return element("div", { class: "cooling" }, element("h3", {}, "Cooling down"), element("ul", {}, items));
}

/** Who is cooling down, since when, until when and why. */
export function coolingWords(health, one) {
  const who = one.userId && health.scope !== "USER" ? `${one.userId} only` : whom(health);
  const why = one.note || classInWords(one.classification);
  const again = one.hits > 1 ? `, ${one.hits} times in a row` : "";
  return [
    element("p", {}, `For ${who}, `, one.since && ["since ", timeOf(one.since), " "], "until ", timeOf(one.until), again),
    element("p", { class: "note" }, why && `${why}; `, "last failed ", timeOf(one.lastTriggeredAt), one.inFlight && "; a diagnosis is running"),
  ];
}

function historyOf(key, history) {
  if (history.length === 0) return null;
  const items = history.map((entry) =>
    element(
      "li",
      { class: `is-${{ OK: "ok", DEGRADED: "degraded", DOWN: "down" }[entry.status]}` },
      timeOf(entry.at, "clock"),
      element(
        "div",
        {},
        element("p", {}, element("strong", {}, STATE_NAMES[{ OK: "ok", DEGRADED: "degraded", DOWN: "down" }[entry.status]]),
          entry.note || entry.classification ? `: ${entry.note || classInWords(entry.classification)}` : ""),
        element("p", { class: "note" }, `by ${entry.by}`,
          entry.count > 1 && [`, ${entry.count} times until `, timeOf(entry.lastAt, "clock")]),
      ),
    ),
  );
  return element(
    "details",
    { class: "history", "data-place": `${key}|history` },
    element("summary", { "data-place": `${key}|history-summary` }, `History, ${counted(history.length, "change")}`),
    element("ol", {}, items),
  );
}
