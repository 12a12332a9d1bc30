// Holds the newest reading of every document of a tenant, and tells which tools have changed.

import { dueOf, summaryOf } from "./summary.js";

const FORGOTTEN_GONE = 1_000;

export class Readings {
  #byTool = new Map();
  #gone = new Map();
  #changed = new Set();
  #told = false;

  /** `onChange(tools)` is called once per frame with the names of the tools that changed. */
  constructor(onChange) {
    this.onChange = onChange;
  }

  /** Takes a reading unless a newer one, or a later end of the document, is known. */
  take(reading) {
    const { key, health } = reading;
    const known = this.#byTool.get(health.toolName)?.get(key);
    if (known && known.health.revision > health.revision) return;
    if ((this.#gone.get(key) ?? -1) >= health.revision) return;
    if (!this.#byTool.has(health.toolName)) this.#byTool.set(health.toolName, new Map());
    this.#byTool.get(health.toolName).set(key, reading);
    this.#change(health.toolName);
  }

  /** Drops a document that has gone at `revision`. */
  drop(key, revision) {
    this.#gone.set(key, revision);
    if (this.#gone.size > FORGOTTEN_GONE) this.#gone.delete(this.#gone.keys().next().value);
    for (const [tool, documents] of this.#byTool) {
      const known = documents.get(key);
      if (!known || known.health.revision > revision) continue;
      documents.delete(key);
      if (documents.size === 0) this.#byTool.delete(tool);
      this.#change(tool);
    }
  }

  /** Forgets everything and takes these, whatever their revisions: the log may have begun anew. */
  replaceAll(readings) {
    for (const tool of this.#byTool.keys()) this.#change(tool);
    this.#byTool.clear();
    this.#gone.clear();
    for (const reading of readings) this.take(reading);
  }

  get isEmpty() {
    return this.#byTool.size === 0;
  }

  /** What is known of a tool, null if nothing. */
  summary(tool) {
    const documents = this.#byTool.get(tool);
    return documents ? summaryOf(tool, documents.values()) : null;
  }

  *all() {
    for (const documents of this.#byTool.values()) yield* documents.values();
  }

  /** The readings whose words end to be true before `now`, given that they were read at `readAt`. */
  due(readAt, now) {
    return [...this.all()].filter((reading) => {
      const due = dueOf(reading, readAt);
      return due !== null && due <= now.getTime();
    });
  }

  #change(tool) {
    this.#changed.add(tool);
    if (this.#told) return;
    this.#told = true;
    // Not requestAnimationFrame: a tab in the background would never be told.
    setTimeout(() => {
      const tools = [...this.#changed];
      this.#changed.clear();
      this.#told = false;
      this.onChange(tools);
    }, 50);
  }
}
