// Lists what users were told that they can do something about, and lets them put it away.

import { newKey, path } from "./api.js";
import { ask, reasonField } from "./asking.js";
import { byId, element, keepingPlace, shown } from "./element.js";
import { timeOf } from "./times.js";

const LATER_MS = 2_000;

export class Inbox {
  #items = [];
  #problem = null;
  #timer = null;
  #asked = 0;

  constructor({ now, hrefOf, onDone }) {
    Object.assign(this, { now, hrefOf, onDone });
  }

  show(yes) {
    if (shown(byId("inbox-view"), yes)) this.load();
  }

  /** Loads soon; once for many changes that come together. */
  soon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.load();
    }, LATER_MS);
  }

  async load() {
    const { api, tenant } = this.now();
    const asked = ++this.#asked;
    try {
      const items = await api.all(path(tenant, "inbox"), { status: "PENDING" });
      if (asked !== this.#asked) return;
      this.#items = items.sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
      this.#problem = null;
    } catch (error) {
      if (asked !== this.#asked) return;
      this.#problem = error.message;
    }
    this.#draw();
  }

  clear() {
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#items = [];
    this.#draw();
  }

  #draw() {
    const count = byId("inbox-count");
    if (shown(count, this.#items.length > 0)) count.textContent = String(this.#items.length);
    const node = byId("inbox");
    keepingPlace(node, () => node.replaceChildren(...this.#parts()));
  }

  #parts() {
    if (this.#problem !== null) return [element("p", { class: "problem", role: "alert" }, this.#problem)];
    if (this.#items.length === 0) return [element("p", { class: "empty" }, "Nothing waits for you.")];
    return [element("ul", { class: "entries" }, this.#items.map((item) => this.#item(item)))];
  }

  #item(item) {
    const { user } = this.now().me;
    const whose = item.assignedToUserId === user ? "you" : item.assignedToUserId;
    const label = `Dismiss: ${item.title}`;
    const dismiss = { type: "button", "data-place": `${item.itemId}|dismiss`, "aria-label": label, on: { click: () => this.#ask(item) } };
    return element(
      "li",
      {},
      element(
        "div",
        {},
        element("h2", {}, item.title),
        element("p", { class: "body" }, item.body),
        element("p", { class: "note" }, `for ${whose}, about `,
          element("a", { href: this.hrefOf(item.toolName), "data-place": `${item.itemId}|tool` }, item.toolName), ", ", timeOf(item.updatedAt)),
      ),
      element("button", dismiss, "Dismiss"),
    );
  }

  #ask(item) {
    const key = newKey();
    ask({
      title: "Dismiss this message?",
      explanation: item.title,
      fields: [reasonField({ required: false, placeholder: "e.g. done" })],
      confirm: "Dismiss",
      onConfirm: async ({ reason }) => {
        const { api, tenant } = this.now();
        await api.ask("POST", path(tenant, "inbox", item.itemId, "dismiss"), { query: { reason }, key });
        this.#items = this.#items.filter(({ itemId }) => itemId !== item.itemId);
        this.#draw();
        this.onDone("The message is dismissed.");
      },
    });
  }
}
