// Lists who is cooling down, since when, until when and why, and lets those clear it who may.

import { coolingWords } from "./card.js";
import { byId, element, keepingPlace, shown } from "./element.js";
import { compared } from "./summary.js";
import { counted } from "./words.js";

const AT_ONCE = 200;

export class Cooldowns {
  #visible = false;

  constructor({ readings, acts, hrefOf }) {
    Object.assign(this, { readings, acts, hrefOf });
  }

  /** Shows the view or hides it. */
  show(yes) {
    this.#visible = shown(byId("cooldowns-view"), yes);
    this.update();
  }

  /** Brings the count up to date, and the list if it is looked at. */
  update() {
    const all = [...this.readings().all()].flatMap((reading) => (reading.calling ?? []).map((one) => ({ reading, one })));
    const count = byId("cooldown-count");
    if (shown(count, all.length > 0)) count.textContent = String(all.length);
    if (!this.#visible) return;
    all.sort((a, b) => compared(a.reading.health.toolName, b.reading.health.toolName) || (a.one.until < b.one.until ? 1 : -1));
    const node = byId("cooldowns");
    keepingPlace(node, () => node.replaceChildren(...this.#parts(all)));
  }

  #parts(all) {
    if (all.length === 0) return [element("p", { class: "empty" }, "Nobody is cooling down.")];
    const items = all.slice(0, AT_ONCE).map(({ reading, one }) => this.#item(reading, one));
    const rest = all.length - items.length;
    const more = rest > 0 && element("p", { class: "lead" }, `And ${counted(rest, "cooldown")} more: they stand with their tools.`);
    return [element("ul", { class: "entries" }, items), more].filter(Boolean);
  }

  #item(reading, one) {
    const { toolName } = reading.health;
    const place = `${reading.key}|tool|${one.errorSignature}|${one.userId ?? ""}`;
    const title = element("h2", {}, element("a", { href: this.hrefOf(toolName), "data-place": place }, toolName));
    return element(
      "li",
      {},
      element("div", {}, title, element("p", {}, element("code", {}, one.errorSignature)), coolingWords(reading.health, one)),
      this.acts.button("clearOne", reading, one),
    );
  }
}
