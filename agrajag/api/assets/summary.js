// Draws together what is known of one tool: the worst of its documents leads.

export const STATES = ["down", "degraded", "paused", "ok"];
export const STATE_NAMES = { down: "Down", degraded: "Degraded", paused: "Cooling down", ok: "Working" };

const SCOPES = ["GLOBAL", "TENANT", "PROJECT", "USER", "SESSION"];
const rankOf = (reading) => STATES.indexOf(stateOf(reading));
const widthOf = (reading) => SCOPES.indexOf(reading.health.scope);

/** The state of one document: its status, and "paused" for one that is fine but for its cooldowns. */
export function stateOf(reading) {
  if (reading.status === "DOWN") return "down";
  if (reading.status === "DEGRADED") return "degraded";
  return (reading.calling ?? []).length > 0 ? "paused" : "ok";
}

/** {tool, state, readings, since}: the readings worst first, then the widest first. */
export function summaryOf(tool, readings) {
  const sorted = [...readings].sort(
    (one, other) =>
      rankOf(one) - rankOf(other) ||
      widthOf(one) - widthOf(other) ||
      compared(one.health.scopeId, other.health.scopeId),
  );
  return { tool, state: stateOf(sorted[0]), readings: sorted, since: sinceOf(sorted[0]) };
}

/** Since when a document is as it is, as far as it says. */
export function sinceOf({ health, status, calling = [] }) {
  if (status === "OK" && calling.length > 0) return calling[0].since ?? calling[0].lastTriggeredAt;
  return overrideOf(health)?.at ?? health.link?.downSince ?? health.verdict?.since ?? health.history?.[0]?.at ?? health.updatedAt;
}

/** What a person has said, while it counts. */
export function overrideOf({ override }, now = new Date()) {
  if (!override || (override.until && new Date(override.until) <= now)) return null;
  return override;
}

/** The next moment at which the words of a reading are no longer true though nothing has changed; null where there is none. */
export function dueOf({ health, calling = [] }, now = new Date()) {
  const ends = [health.override?.until, health.verdict?.expectedRecoveryAt, ...calling.map((cooling) => cooling.until)];
  const ahead = ends.filter((end) => end && new Date(end) > now).map((end) => new Date(end).getTime());
  return ahead.length > 0 ? Math.min(...ahead) : null;
}

/** Whether a tool is among those looked for. */
export function fits({ tool, state, readings }, { text, states, scope }) {
  if (states.size > 0 && !states.has(state)) return false;
  if (scope !== "" && !readings.some(({ health }) => inScope(health.scope, scope))) return false;
  if (text === "") return true;
  const words = text.toLowerCase().split(/\s+/);
  return readings.some(({ health, words: told }) => {
    const all = `${tool} ${health.scopeId ?? ""} ${told}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const inScope = (scope, wanted) => (wanted === "WIDE" ? scope === "TENANT" || scope === "GLOBAL" : scope === wanted);

/** The order of names, numbers in them by their value. */
export const compared = new Intl.Collator("en", { numeric: true }).compare;
