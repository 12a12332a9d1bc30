// What can be done to a document: asked for, sent as one command, and told what became of it.

import { newKey, path } from "./api.js";
import { ask, choiceField, reasonField, selectField } from "./asking.js";
import { element } from "./element.js";
import { may } from "./roles.js";
import { overrideOf } from "./summary.js";
import { classInWords, whom } from "./words.js";

const NAMES = { recheck: "Recheck", clear: "Clear cooldowns", clearOne: "Clear", override: "Override", lift: "Lift override" };
const RIGHTS = { recheck: "recheck", clear: "clear", clearOne: "clear", override: "override", lift: "override" };
const DURATIONS = [["PT1H", "an hour"], ["PT4H", "four hours"], ["P1D", "a day"], ["P7D", "a week"], ["", "until it is lifted"]];
const STATUSES = [["DOWN", "Down"], ["DEGRADED", "Degraded"], ["OK", "Working"]];

const DONE = {
  recheck: { APPLIED: "A diagnosis has begun. What it finds will show here.", ALREADY_APPLIED: "A diagnosis is under way already. What it finds will show here." },
  clear: { APPLIED: "The cooldowns have ended.", NOTHING_MATCHED: "There was nothing to clear." },
  clearOne: { APPLIED: "The cooldown has ended.", NOTHING_MATCHED: "It had ended already." },
  override: { APPLIED: "The override is in force." },
  lift: { APPLIED: "The override is lifted.", NOTHING_MATCHED: "There was no override." },
};

export class Acts {
  /** `now()` gives {api, tenant, me}; `onDone(reading, words)` takes what came of it. */
  constructor({ now, onDone }) {
    Object.assign(this, { now, onDone });
  }

  /** The button for an act, null where whoever looks may not do it. */
  button(act, reading, cooling = null) {
    if (!may(this.now().me, RIGHTS[act], reading.health)) return null;
    const place = [reading.key, act, cooling?.errorSignature ?? "", cooling?.userId ?? ""].join("|");
    const label = `${NAMES[act]}: ${cooling ? `${cooling.errorSignature}, ` : ""}${reading.health.toolName} for ${whom(reading.health)}`;
    return element(
      "button",
      { type: "button", "data-place": place, "data-act": act, "aria-label": label, on: { click: () => this.#ask(act, reading, cooling) } },
      NAMES[act],
    );
  }

  #ask(act, reading, cooling) {
    const { health } = reading;
    const key = newKey();
    const target = `${health.toolName} for ${cooling?.userId ?? whom(health)}`;
    ask({ ...QUESTIONS[act](target, reading, cooling), onConfirm: (values) => this.#do(act, { health, cooling, values, key }) });
  }

  async #do(act, { health, cooling, values, key }) {
    const { api, tenant } = this.now();
    const { reason } = values;
    const scope = { scope: health.scope, scopeId: health.scopeId };
    const about = cooling === null ? {} : { errorSignature: cooling.errorSignature, userId: cooling.userId };
    const at = (what) => path(tenant, "tools", health.toolName, what);
    const requests = {
      recheck: () => api.ask("POST", at("recheck"), { query: { ...scope, reason }, key }),
      clear: () => api.ask("DELETE", at("cooldowns"), { query: { ...scope, reason }, key }),
      clearOne: () => api.ask("DELETE", at("cooldowns"), { query: { ...scope, ...about, reason }, key }),
      override: () => api.ask("PUT", at("override"), { query: scope, body: overrideBody(values), key }),
      lift: () => api.ask("DELETE", at("override"), { query: { ...scope, reason }, key }),
    };
    const { content } = await requests[act]();
    const { command = {}, end = null, health: changed = null } = content ?? {};
    const told = end === null ? (DONE[act][command.outcome] ?? DONE[act].APPLIED) : endInWords(end);
    this.onDone(changed, `${health.toolName}: ${told}`);
  }
}

const QUESTIONS = {
  recheck: (target) => ({
    title: `Recheck ${target}?`,
    explanation: "A diagnosis looks at the tool now, also while a cooldown lasts.",
    fields: [reasonField({ required: false, placeholder: "e.g. the token was renewed" })],
    confirm: "Recheck",
  }),
  clear: (target, { calling = [] }) => ({
    title: `Clear the cooldowns of ${target}?`,
    explanation: `${calling.length === 1 ? "It ends" : `All ${calling.length} end`} at once: the next failure is looked at anew.`,
    fields: [reasonField({ required: true, placeholder: "e.g. the server is back" })],
    confirm: "Clear cooldowns",
  }),
  clearOne: (target, _reading, cooling) => ({
    title: `Clear this cooldown of ${target}?`,
    explanation: `${cooling.errorSignature} ends at once: the next such failure is looked at anew.`,
    fields: [reasonField({ required: true, placeholder: "e.g. the token was renewed" })],
    confirm: "Clear",
  }),
  override: (target, { health }) => ({
    title: `Override ${target}`,
    explanation: "What you say counts above all evidence, for everybody whom this is about.",
    fields: [
      choiceField("status", "It is", STATUSES, overrideOf(health)?.status ?? "DOWN"),
      selectField("duration", "For", DURATIONS, "PT4H"),
      reasonField({ required: true, placeholder: "e.g. maintenance" }),
    ],
    confirm: "Override",
    grave: true,
  }),
  lift: (target) => ({
    title: `Lift the override of ${target}?`,
    explanation: "The evidence decides again.",
    fields: [reasonField({ required: true, placeholder: "e.g. the maintenance is over" })],
    confirm: "Lift override",
  }),
};

/** What a diagnosis has found that ended while it was waited for. */
function endInWords({ verdict, humanNote, userActionHint, reason }) {
  const found = humanNote || (verdict ? classInWords(verdict) : reason) || "nothing new";
  return ["Rechecked", found].join(": ") + (userActionHint ? `. ${userActionHint}` : "");
}

function overrideBody({ status, reason, duration }) {
  return duration === "" ? { status, reason } : { status, reason, duration };
}
