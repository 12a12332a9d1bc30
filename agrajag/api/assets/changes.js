// Follows the changes of one tenant: comes back after every break, and goes on after the last event that it has seen.
//
// `fetch` instead of EventSource, because a token belongs into a header and never into an address.

import { EventReader } from "./sse.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const SILENCE_MS = 45_000; // three heartbeats that did not come
const STALE_AFTER_MS = 10_000;

/** How long to wait before the try after `failures` failed ones: doubled each time, and never all at once. */
export function pauseMs(failures, base = FIRST_WAIT_MS, chance = Math.random()) {
  return Math.min(LONGEST_WAIT_MS, base * 2 ** Math.max(0, failures - 1)) * (0.75 + chance / 2);
}

/** Calls `onOpen()` at each connection, `onEvent({event, data})` for each event, `onState(state, lastHeard)`, and `onProblem(Refusal)` where the API says no.
 *
 * States: "live", "reconnecting", "stale" (nothing for a while), "refused" (the token is no longer good; it has ended). */
export class Changes {
  #stopped = false;
  #lastId = null;
  #lastHeard = null;
  #failures = 0;
  #awaken = () => {};
  #connection = new AbortController();
  #wait = FIRST_WAIT_MS;

  constructor({ open, onOpen, onEvent, onState, onProblem }) {
    Object.assign(this, { open, onOpen, onEvent, onState, onProblem });
  }

  async start() {
    const atOnce = () => this.#awaken();
    window.addEventListener("online", atOnce);
    while (!this.#stopped) {
      await this.#once();
      if (this.#stopped) break;
      this.#tellTrouble();
      await this.#pause();
    }
    window.removeEventListener("online", atOnce);
  }

  stop() {
    this.#stopped = true;
    this.#connection.abort();
    this.#awaken();
  }

  /** Forgets where it was, and has everything told again. */
  beginAnew() {
    this.#lastId = null;
    this.#connection.abort();
    this.#awaken();
  }

  async #once() {
    this.#connection = new AbortController();
    try {
      const answer = await this.open(this.#lastId, this.#connection.signal);
      await this.#read(answer.body);
    } catch (error) {
      if (error.status === 401) this.#refused();
      else if (error.status > 0) this.onProblem(error);
      // Whatever else broke it, the answer is to come back.
    }
    this.#connection.abort();
    this.#failures += 1;
  }

  async #read(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    const events = new EventReader();
    this.#heard();
    this.onOpen();
    for (;;) {
      const { done, value } = await this.#within(reader.read());
      if (done || this.#stopped) return;
      this.#heard();
      for (const event of events.take(value)) this.onEvent(event);
      this.#lastId = events.lastId ?? this.#lastId;
      this.#wait = Math.max(events.retry ?? FIRST_WAIT_MS, 100);
    }
  }

  #within(promise) {
    const connection = this.#connection;
    const timer = setTimeout(() => connection.abort(), SILENCE_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  #heard() {
    this.#lastHeard = new Date();
    this.#failures = 0;
    this.onState("live", this.#lastHeard);
  }

  #refused() {
    this.#stopped = true;
    this.onState("refused", this.#lastHeard);
  }

  #tellTrouble() {
    const silent = this.#lastHeard === null ? Infinity : new Date() - this.#lastHeard;
    const long = silent > STALE_AFTER_MS && (this.#lastHeard !== null || this.#failures > 3);
    this.onState(long ? "stale" : "reconnecting", this.#lastHeard);
  }

  #pause() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs(this.#failures, this.#wait));
      this.#awaken = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
