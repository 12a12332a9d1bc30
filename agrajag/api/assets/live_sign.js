// Says whether what is shown is what is: live, reconnecting, or stale since when.

import { element, shown } from "./element.js";
import { timeOf } from "./times.js";

const WORDS = { live: ["Live"], reconnecting: ["Reconnecting…"] };

export class LiveSign {
  #state = null;

  constructor(node) {
    this.node = node;
  }

  /** Only a change is written, so that only a change is read out. */
  show(state, lastHeard) {
    shown(this.node, true);
    if (state === this.#state) return;
    this.#state = state;
    this.node.className = `live is-${state}`;
    const stale = lastHeard === null ? ["Not connected"] : ["Stale since ", timeOf(lastHeard.toISOString(), "clock")];
    this.node.replaceChildren(element("span", { class: "dot", "aria-hidden": "true" }), ...(WORDS[state] ?? stale));
  }

  hide() {
    this.#state = null;
    shown(this.node, false);
  }
}
