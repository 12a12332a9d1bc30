// Shows all that is known of one tool, a card for each of its documents, the worst first.

import { cardOf } from "./card.js";
import { byId, element, keepingPlace, shown } from "./element.js";
import { markOf } from "./marks.js";
import { STATE_NAMES } from "./summary.js";

const AT_ONCE = 20;

export class Detail {
  tool = null;
  #most = AT_ONCE;
  #cards = new Map(); // key → {reading, card}

  constructor({ summaryOf, acts, backHref }) {
    Object.assign(this, { summaryOf, acts, backHref });
    this.node = byId("detail");
  }

  /** Opens a tool, or none. */
  show(tool) {
    if (tool !== this.tool) {
      this.#most = AT_ONCE;
      this.#cards.clear();
      this.node.replaceChildren();
    }
    this.tool = tool;
    document.body.classList.toggle("reading", tool !== null);
    if (shown(this.node, tool !== null)) this.update();
  }

  /** Shows what is known now; cards of documents that have not changed stay as they are. */
  update() {
    if (this.tool === null) return;
    const summary = this.summaryOf(this.tool);
    keepingPlace(this.node, () => this.node.replaceChildren(...this.#parts(summary)));
  }

  #parts(summary) {
    const back = element("a", { class: "back", href: this.backHref(), "data-place": "back" }, "All tools");
    const title = element("h1", { id: "detail-title" }, this.tool);
    if (summary === null) {
      return [back, title, element("p", { class: "lead" }, "Nothing is known against this tool.")];
    }
    const many = summary.readings.length > 1 && `: ${summary.readings.length} entries, the worst first`;
    const lead = element("p", { class: "lead" }, markOf(summary.state), element("span", {}, STATE_NAMES[summary.state], many));
    const cards = summary.readings.slice(0, this.#most).map((reading) => this.#card(reading));
    const rest = summary.readings.length - cards.length;
    const more = () => {
      this.#most += 5 * AT_ONCE;
      this.update();
    };
    const button = rest > 0 && element("button", { type: "button", "data-place": "more", on: { click: more } }, `Show more (${rest})`);
    return [back, title, lead, ...cards, button].filter(Boolean);
  }

  #card(reading) {
    const known = this.#cards.get(reading.key);
    if (known?.reading === reading) return known.card;
    const card = cardOf(reading, this.acts);
    this.#cards.set(reading.key, { reading, card });
    return card;
  }

  /** Makes every card anew, because what may be done or what time it is has changed. */
  refresh() {
    this.#cards.clear();
    this.update();
  }
}
