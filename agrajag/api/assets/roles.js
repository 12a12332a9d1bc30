// Which buttons somebody is shown. The API decides again; this only spares them a refusal.

const OWN_ACTS = new Set(["recheck", "clear"]);

/** Whether `me` ({role, user}) may do `act` ("recheck", "clear", "override") to a document. */
export function may(me, act, { scope, scopeId }) {
  if (me.role === "admin") return true;
  if (scope === "USER" && scopeId !== me.user) return false;
  return me.role === "operator" || (scope === "USER" && OWN_ACTS.has(act));
}
