// Keeps up with one tenant: all its documents first, then its changes, and anew what time has made untrue.

import { path } from "./api.js";
import { Changes } from "./changes.js";
import { Readings } from "./readings.js";

const ANEW_MS = 3_600_000; // words tell times of today without a date
const MOST_SINGLE = 20;

export class Tenant {
  #changes;
  #stopped = false;
  #coming = null; // the documents of a snapshot that is not whole yet
  #checkedAt = new Date();
  #loadedAt = null;

  /** `onChange(tools)`, `onLoaded()`, `onState(state, lastHeard)`, `onProblem(message)`. */
  constructor({ api, name, onChange, onLoaded, onState, onProblem }) {
    Object.assign(this, { api, name, onLoaded });
    const unlessStopped = (call) => (...told) => this.#stopped || call(...told);
    this.readings = new Readings(unlessStopped(onChange));
    this.#changes = new Changes({
      open: (lastId, signal) => api.events(path(name, "changes"), lastId, signal),
      onOpen: () => (this.#coming = null), // what was cut off in the middle comes anew
      onEvent: unlessStopped((event) => this.#take(event)),
      onState: unlessStopped(onState),
      onProblem: unlessStopped(onProblem),
    });
  }

  get loaded() {
    return this.#loadedAt !== null;
  }

  start() {
    this.#changes.start();
  }

  stop() {
    this.#stopped = true;
    this.#changes.stop();
  }

  /** Asks anew for what is no longer true although nothing has changed. */
  async passTime(now = new Date()) {
    if (!this.loaded) return;
    const due = this.readings.due(this.#checkedAt, now);
    this.#checkedAt = now;
    if (due.length > MOST_SINGLE || now - this.#loadedAt > ANEW_MS) this.#changes.beginAnew();
    else await Promise.all(due.map(({ health }) => this.#readAgain(health)));
  }

  async #readAgain({ toolName, scope, scopeId }) {
    try {
      const { content } = await this.api.ask("GET", path(this.name, "tools", toolName, "health"), { query: { scope, scopeId } });
      if (!this.#stopped) this.readings.take(content);
    } catch {
      // Within the hour everything is asked for anew.
    }
  }

  #take({ event, data }) {
    if (event === "reset") {
      this.#coming = [];
    } else if (event === "changed") {
      const reading = JSON.parse(data);
      if (this.#coming === null) this.readings.take(reading);
      else this.#coming.push(reading);
    } else if (event === "gone") {
      const { key, revision } = JSON.parse(data);
      if (this.#coming !== null) this.#coming = this.#coming.filter((reading) => reading.key !== key);
      this.readings.drop(key, revision);
    } else if (event === "current" && this.#coming !== null) {
      this.readings.replaceAll(this.#coming);
      this.#coming = null;
      this.#loadedAt = new Date();
      this.onLoaded();
    }
  }
}
