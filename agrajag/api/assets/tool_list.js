// Lists the tools by state. A change touches the row of its tool and nothing else, however many there are.

import { byId, element, shown } from "./element.js";
import { markOf } from "./marks.js";
import { stripOf } from "./strip.js";
import { compared, fits, STATE_NAMES, STATES, stateOf } from "./summary.js";
import { timeOf } from "./times.js";
import { counted, whom, wordNodes } from "./words.js";

const MOST_TOLD = 2;

export class ToolList {
  #rows = new Map(); // tool → {item, summary}
  #groups = new Map(); // state → {section, list, count, names}
  #filter = { text: "", states: new Set(), scope: "" };
  #chips = new Map();
  #found = null;

  constructor({ hrefOf, onCount }) {
    Object.assign(this, { hrefOf, onCount });
    for (const state of STATES) this.#makeGroup(state);
    byId("find").addEventListener("input", (event) => this.#look({ text: event.target.value.trim() }));
    byId("scopes").addEventListener("change", (event) => this.#look({ scope: event.target.value }));
  }

  get size() {
    return this.#rows.size;
  }

  get filtered() {
    const { text, states, scope } = this.#filter;
    return text !== "" || states.size > 0 || scope !== "";
  }

  clear() {
    for (const tool of [...this.#rows.keys()]) this.take(tool, null);
    this.count();
  }

  /** Shows what is known of a tool now, or no longer shows it; gives the state before and after. */
  take(tool, summary) {
    const before = this.#rows.get(tool)?.summary.state ?? null;
    if (summary === null) this.#remove(tool);
    else this.#place(tool, summary, before);
    return { before, after: summary?.state ?? null };
  }

  /** Brings the counts up to date; once after many `take`s. */
  count() {
    let visible = 0;
    for (const [state, group] of this.#groups) {
      const all = group.names.length;
      const here = group.names.filter((tool) => !this.#rows.get(tool).item.hidden).length;
      visible += here;
      shown(group.section, here > 0);
      group.count.textContent = here === all ? String(all) : `${here} of ${all}`;
      this.#chips.get(state).textContent = String(all);
    }
    const found = this.filtered ? `${counted(visible, "tool")} found` : "";
    if (found !== this.#found) byId("found").textContent = found;
    this.#found = found;
    this.onCount({ visible, all: this.#rows.size, down: this.#groups.get("down").names.length });
  }

  /** The link of the tool `step` after the open or focused one, among those shown; null at the end. */
  neighbour(tool, step) {
    const links = [...byId("groups").querySelectorAll("section:not([hidden]) li:not([hidden]) a")];
    const at = links.findIndex((link) => link === document.activeElement || link.dataset.tool === tool);
    return at < 0 ? (links[0] ?? null) : (links[at + step] ?? null);
  }

  link(tool) {
    return this.#rows.get(tool)?.item.querySelector("a") ?? null;
  }

  /** Marks the tool that is open, or none. */
  mark(tool) {
    for (const link of byId("groups").querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
    this.link(tool)?.setAttribute("aria-current", "true");
  }

  /** Draws the strips to the end of now. */
  refreshStrips(now) {
    for (const { item, summary } of this.#rows.values()) {
      if (!item.hidden) item.querySelector(".strip")?.replaceWith(stripOf(summary.readings[0], now));
    }
  }

  showAll() {
    byId("find").value = "";
    byId("scopes").value = "";
    for (const box of byId("states").querySelectorAll("input")) box.checked = false;
    this.#look({ text: "", states: new Set(), scope: "" });
  }

  #makeGroup(state) {
    const count = element("span", { class: "count" });
    const list = element("ul", { class: "rows" });
    const title = element("h2", { id: `group-${state}` }, markOf(state), STATE_NAMES[state], " ", count);
    const section = element("section", { class: "group", "aria-labelledby": title.id, hidden: true }, title, list);
    byId("groups").append(section);
    this.#groups.set(state, { section, list, count, names: [] });

    const total = element("span", { class: "total" }, "0");
    const box = element("input", { type: "checkbox", value: state, on: { change: () => this.#lookForStates() } });
    byId("states").append(element("label", { class: `chip is-${state}` }, box, element("span", {}, STATE_NAMES[state]), total));
    this.#chips.set(state, total);
  }

  #lookForStates() {
    const boxes = byId("states").querySelectorAll("input:checked");
    this.#look({ states: new Set([...boxes].map((box) => box.value)) });
  }

  #look(change) {
    Object.assign(this.#filter, change);
    for (const row of this.#rows.values()) row.item.hidden = !fits(row.summary, this.#filter);
    this.count();
  }

  #place(tool, summary, before) {
    const row = this.#rows.get(tool);
    const item = row?.item ?? element("li");
    this.#rows.set(tool, { item, summary });
    this.#fill(item, summary);
    item.hidden = !fits(summary, this.#filter);
    if (before === summary.state) return;
    const focused = item.contains(document.activeElement);
    if (before !== null) this.#takeName(before, tool);
    const { list, names } = this.#groups.get(summary.state);
    const at = placeIn(names, tool);
    names.splice(at, 0, tool);
    list.insertBefore(item, list.children[at] ?? null);
    if (focused) item.querySelector("a").focus({ preventScroll: true });
  }

  #fill(item, summary) {
    item.className = `row is-${summary.state}`;
    const link = item.querySelector("a") ?? element("a", { href: this.hrefOf(summary.tool), "data-tool": summary.tool }, summary.tool);
    const told = summary.readings.filter((reading) => stateOf(reading) !== "ok").slice(0, MOST_TOLD);
    const lines = (told.length > 0 ? told : summary.readings.slice(0, 1)).map((reading) => element("p", {}, forWhom(reading), wordNodes(reading.words)));
    const rest = summary.readings.filter((reading) => stateOf(reading) !== "ok").length - told.length;
    const more = rest > 0 ? element("p", { class: "more" }, `and ${rest} more`) : null;
    const parts = [
      element("div", { class: "words" }, lines, more),
      stripOf(summary.readings[0]),
      element("p", { class: "since" }, element("span", { class: "visually-hidden" }, "since "), timeOf(summary.since, "far")),
    ];
    if (link.isConnected) {
      while (link.parentElement.nextSibling) link.parentElement.nextSibling.remove();
      item.append(...parts);
    } else {
      item.replaceChildren(element("h3", {}, link), ...parts);
    }
  }

  #remove(tool) {
    const row = this.#rows.get(tool);
    if (!row) return;
    this.#takeName(row.summary.state, tool);
    row.item.remove();
    this.#rows.delete(tool);
  }

  #takeName(state, tool) {
    const { names } = this.#groups.get(state);
    names.splice(placeIn(names, tool), 1);
  }
}

/** Whom the words are about, where they do not say so themselves. */
function forWhom({ health, words }) {
  return words.includes(health.scopeId || "everywhere") ? null : `${whom(health)}: `;
}

/** Where a name is, or belongs, in a sorted list. */
function placeIn(names, name) {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(names[middle], name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Names that read alike (`a1`, `a01`) still have one order. */
const order = (one, other) => compared(one, other) || (one < other ? -1 : Number(one > other));
