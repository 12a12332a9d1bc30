// Says in the address what is looked at: `#/tenant/view/tool`. No token is ever part of it.

const VIEWS = ["tools", "cooldowns", "inbox"];

/** {tenant, view, tool} of an address's hash; what is missing or cannot be read is null, the view then "tools". */
export function routeOf(hash) {
  const [, tenant, view, tool] = hash.replace(/^#/, "").split("/").map(decoded);
  return { tenant: tenant || null, view: VIEWS.includes(view) ? view : "tools", tool: (view === "tools" && tool) || null };
}

/** The hash for a place. */
export function hashOf({ tenant, view = "tools", tool = null }) {
  const parts = tool === null ? [tenant, view] : [tenant, view, tool];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
