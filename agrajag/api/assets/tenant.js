// Keeps up with one tenant: its list once, its changes from then on, and anew what time has made untrue.

import { path } from "./api.js";
import { Changes } from "./changes.js";
import { Readings } from "./readings.js";

const ANEW_MS = 3_600_000; // words tell times of today without a date
const MOST_SINGLE = 20;

export class Tenant {
  #changes;
  #stopped = false;
  #loading = null;
  #again = false;
  #checkedAt = new Date();
  #loadedAt = null;

  /** `onChange(tools)`, `onLoaded()`, `onState(state, lastHeard)`, `onProblem(message)`. */
  constructor({ api, name, onChange, onLoaded, onState, onProblem }) {
    Object.assign(this, { api, name, onLoaded, onProblem });
    const unlessStopped = (call) => (...told) => this.#stopped || call(...told);
    this.readings = new Readings(unlessStopped(onChange));
    this.#changes = new Changes({
      open: (lastId, signal) => api.events(path(name, "changes"), lastId, signal),
      onOpen: () => this.#loadedAt === null && this.load(),
      onEvent: (event) => this.#take(event),
      onState: unlessStopped(onState),
    });
  }

  get loaded() {
    return this.#loadedAt !== null;
  }

  start() {
    this.load(); // also while the stream cannot be had
    this.#changes.start();
  }

  stop() {
    this.#stopped = true;
    this.#changes.stop();
  }

  /** Loads all documents; a second call while one runs makes it run once more. */
  load() {
    this.#again = this.#loading !== null;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
      if (this.#again && !this.#stopped) this.load();
    });
    return this.#loading;
  }

  /** Asks anew for what is no longer true although nothing has changed. */
  async passTime(now = new Date()) {
    if (!this.loaded) return;
    const due = this.readings.due(this.#checkedAt, now);
    this.#checkedAt = now;
    if (due.length > MOST_SINGLE || now - this.#loadedAt > ANEW_MS) await this.load();
    else await Promise.all(due.map(({ health }) => this.#readAgain(health)));
  }

  async #load() {
    const before = this.readings.keys();
    try {
      const all = await this.api.all(path(this.name, "health"));
      if (this.#stopped) return;
      for (const reading of all) this.readings.take(reading);
      this.readings.keepOnly(new Set(all.map(({ key }) => key)), before);
      this.#loadedAt = new Date();
      this.onLoaded();
    } catch (error) {
      if (!this.#stopped) this.onProblem(error);
    }
  }

  async #readAgain({ toolName, scope, scopeId }) {
    try {
      const { content } = await this.api.ask("GET", path(this.name, "tools", toolName, "health"), { query: { scope, scopeId } });
      this.readings.take(content);
    } catch {
      // It is asked for again with all others.
    }
  }

  #take({ event, data }) {
    if (event === "reset") {
      this.load();
      return;
    }
    const told = JSON.parse(data);
    if (event === "gone") this.readings.drop(told.key, told.revision);
    else if (told.health) this.readings.take(told);
  }
}
