// Puts the page together: who looks, at which tenant, at what; and keeps it true.

import { Acts } from "./acts.js";
import { Announcer } from "./announcer.js";
import { Api } from "./api.js";
import { Cooldowns } from "./cooldowns.js";
import { Detail } from "./detail.js";
import { byId, element, shown } from "./element.js";
import { noTenantYet, nothingFits, nothingYet } from "./empty.js";
import { Inbox } from "./inbox.js";
import { listenForKeys } from "./keys.js";
import { LiveSign } from "./live_sign.js";
import { Notice } from "./notice.js";
import { hashOf, routeOf } from "./route.js";
import { session } from "./session.js";
import { refreshTimes } from "./times.js";
import { Tenant } from "./tenant.js";
import { ToolList } from "./tool_list.js";

const TICK_MS = 10_000;
const STRIPS_EVERY = 30;
const AGAIN_MS = 10_000;

let api = null;
let mine = []; // [{tenant, user, role}]
let me = null;
let tenant = null;
let retry = null;

const now = () => ({ api, tenant: tenant.name, me });
const toolHref = (tool) => hashOf({ tenant: tenant.name, tool });
const notice = new Notice(byId("notice"));
const liveSign = new LiveSign(byId("live"));
const announcer = new Announcer(byId("announcer"));
const acts = new Acts({ now, onDone: done });
const list = new ToolList({ hrefOf: toolHref, onCount: counted });
const summaryOf = (tool) => tenant?.readings.summary(tool) ?? null;
const detail = new Detail({ summaryOf, acts, backHref: () => hashOf({ tenant: tenant.name }) });
const cooldowns = new Cooldowns({ readings: () => tenant?.readings ?? { all: () => [] }, acts, hrefOf: toolHref });
const inbox = new Inbox({ now, hrefOf: toolHref, onDone: (words) => notice.tell(words) });

async function begin() {
  clearTimeout(retry);
  api = new Api(session.token);
  mine = [];
  shown(byId("tenant-choice"), false);
  try {
    mine = (await api.ask("GET", "brain")).content.items;
  } catch (error) {
    leave();
    if (error.status === 401) askForToken(session.token === null ? "" : error.message);
    else showAway("Nothing to show", error.message);
    return;
  }
  shown(byId("sign-in"), false);
  shown(byId("away"), false);
  shown(byId("sign-out"), session.token !== null);
  if (mine.length === 0) {
    leave();
    showAway("Nothing has been reported yet", noTenantYet());
    retry = setTimeout(begin, AGAIN_MS);
    return;
  }
  fillTenants();
  follow();
}

function askForToken(problem) {
  shown(byId("away"), false);
  shown(byId("sign-out"), false);
  shown(byId("sign-in"), true);
  byId("sign-in-problem").textContent = problem;
  byId("token").value = "";
  byId("token").focus();
  session.signOut();
}

function showAway(title, words) {
  shown(byId("sign-in"), false);
  byId("away-title").textContent = title;
  byId("away-words").replaceChildren(...[words].flat());
  shown(byId("away"), true);
}

/** Forgets the tenant that was looked at, and everything that was shown of it. */
function leave() {
  tenant?.stop();
  tenant = null;
  liveSign.hide();
  detail.show(null);
  list.clear();
  inbox.clear();
  cooldowns.update();
  notice.hide();
  for (const id of ["views", "who", "tools-view", "cooldowns-view", "inbox-view"]) shown(byId(id), false);
  document.title = "Agrajag";
}

function fillTenants() {
  byId("tenant").replaceChildren(...mine.map((one) => element("option", { value: one.tenant }, one.tenant)));
  shown(byId("tenant-choice"), true);
  byId("tenant").disabled = mine.length === 1;
}

/** Shows what the address says, of a tenant that may be seen. */
function follow() {
  if (mine.length === 0) return;
  const route = routeOf(location.hash);
  const known = mine.find((one) => one.tenant === route.tenant);
  if (!known) {
    location.replace(hashOf({ tenant: mine[0].tenant }));
    return;
  }
  if (tenant?.name !== known.tenant) look(known);
  for (const link of byId("views").querySelectorAll("a")) {
    link.href = hashOf({ tenant: tenant.name, view: link.dataset.view });
    link.toggleAttribute("aria-current", link.dataset.view === route.view);
    if (link.dataset.view === route.view) link.setAttribute("aria-current", "page");
  }
  byId("home").href = hashOf({ tenant: tenant.name });
  shown(byId("tools-view"), route.view === "tools");
  cooldowns.show(route.view === "cooldowns");
  inbox.show(route.view === "inbox");
  open(route.tool);
}

function open(tool) {
  const before = detail.tool;
  detail.show(tool);
  list.mark(tool);
  if (tool !== null && tool !== before) {
    byId("detail").focus({ preventScroll: true });
    byId("detail").scrollTo(0, 0);
    if (getComputedStyle(byId("detail")).position === "static") window.scrollTo(0, 0);
  } else if (tool === null && before !== null) {
    list.link(before)?.focus();
  }
}

function look(known) {
  leave();
  me = known;
  byId("tenant").value = known.tenant;
  const who = byId("who");
  who.textContent = session.token === null ? "" : `${known.user}, ${known.role}`;
  shown(who, session.token !== null);
  shown(byId("views"), true);
  tenant = new Tenant({
    api, name: known.tenant, onChange: changed, onLoaded: loaded,
    onState: (state, lastHeard) => (state === "refused" ? begin() : liveSign.show(state, lastHeard)),
    onProblem: (error) => notice.trouble(error.message),
  });
  tenant.start();
  inbox.load();
}

function loaded() {
  notice.hideTrouble();
  list.count();
  detail.update(); // what is open may not be there
}

function changed(tools) {
  const first = list.size === 0;
  for (const tool of tools) {
    const { before, after } = list.take(tool, summaryOf(tool));
    if (!first && before !== after) announcer.stateChanged(tool, after);
  }
  list.count();
  if (tools.includes(detail.tool)) {
    detail.update();
    list.mark(detail.tool);
  }
  cooldowns.update();
  inbox.soon();
}

function counted({ visible, all, down }) {
  const node = byId("nothing");
  document.title = down > 0 ? `${down} down · Agrajag` : "Agrajag";
  if (!shown(node, visible === 0 && tenant !== null && tenant.loaded && (all > 0 || tenant.readings.isEmpty))) return;
  node.replaceChildren(...(all === 0 ? nothingYet(tenant.name) : nothingFits(() => list.showAll())));
}

function done(reading, words) {
  if (reading) tenant.readings.take(reading);
  notice.tell(words);
}

function step(by) {
  const link = list.neighbour(detail.tool, by);
  link?.focus();
  return link !== null;
}

const press = (act) => {
  const button = byId("detail").querySelector(`[data-act=${act}]`);
  button?.click();
  return button !== null;
};

const view = (name) => {
  if (tenant === null) return false;
  location.hash = hashOf({ tenant: tenant.name, view: name });
  return true;
};

function tick(count) {
  if (document.hidden || tenant === null) return;
  refreshTimes(document);
  tenant.passTime();
  if (count % STRIPS_EVERY === 0) list.refreshStrips(new Date());
}

listenForKeys({
  "/": () => { if (byId("tools-view").hidden) return false; byId("find").focus(); byId("find").select(); return true; },
  j: () => step(1),
  k: () => step(-1),
  r: () => press("recheck"),
  c: () => press("clear"),
  1: () => view("tools"),
  2: () => view("cooldowns"),
  3: () => view("inbox"),
  Escape: () => (detail.tool === null ? false : view("tools")),
});
window.addEventListener("hashchange", follow);
document.addEventListener("visibilitychange", () => tick(0));
byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
byId("tenant").addEventListener("change", (event) => { location.hash = hashOf({ tenant: event.target.value }); });
byId("away-again").addEventListener("click", begin);
byId("sign-out").addEventListener("click", () => { session.signOut(); begin(); });
byId("sign-in-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = byId("token").value.trim();
  if (token === "") byId("sign-in-problem").textContent = "Paste a token first.";
  else { session.signIn(token); begin(); }
});
let ticks = 0;
setInterval(() => tick(++ticks), TICK_MS);
begin();
