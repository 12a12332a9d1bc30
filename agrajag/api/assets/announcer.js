// Tells those who hear the page what has changed, politely and not all at once.

import { STATE_NAMES } from "./summary.js";

const MOST = 3;

/** Gathers changes of state for a moment, then says them in one go in `node`. */
export class Announcer {
  #waiting = new Map();
  #timer = null;

  constructor(node, pauseMs = 1_000) {
    Object.assign(this, { node, pauseMs });
  }

  /** `state` null says that nothing is known of the tool any more. */
  stateChanged(tool, state) {
    this.#waiting.set(tool, state);
    this.#timer ??= setTimeout(() => this.#tell(), this.pauseMs);
  }

  say(words) {
    this.node.textContent = words;
  }

  #tell() {
    const told = [...this.#waiting].map(([tool, state]) => `${tool}: ${state ? STATE_NAMES[state].toLowerCase() : "no longer listed"}`);
    this.#waiting.clear();
    this.#timer = null;
    const rest = told.length - MOST;
    this.say([...told.slice(0, MOST), ...(rest > 0 ? [`and ${rest} more tools changed`] : [])].join("; "));
  }
}
