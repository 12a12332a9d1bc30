// Tells what became of something: one message at a time, until it is put away or time has passed.

import { element, shown } from "./element.js";

const STAYS_MS = 10_000;

export class Notice {
  #timer = null;
  #isTrouble = false;

  constructor(node) {
    this.node = node;
  }

  /** What was done; goes by itself. */
  tell(words) {
    this.#show(words, false);
    this.#timer = setTimeout(() => this.hide(), STAYS_MS);
  }

  /** What is wrong; stays. */
  trouble(words) {
    this.#show(words, true);
  }

  hideTrouble() {
    if (this.#isTrouble) this.hide();
  }

  hide() {
    clearTimeout(this.#timer);
    shown(this.node, false);
    this.node.replaceChildren();
  }

  #show(words, isTrouble) {
    clearTimeout(this.#timer);
    this.#isTrouble = isTrouble;
    this.node.classList.toggle("is-trouble", isTrouble);
    const close = element("button", { type: "button", class: "quiet", "aria-label": "Close this message", on: { click: () => this.hide() } }, "Close");
    this.node.replaceChildren(element("p", {}, words), close);
    shown(this.node, true);
  }
}
