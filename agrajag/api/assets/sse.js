// Reads server-sent events out of pieces of text, wherever the pieces were cut.

/** Takes pieces; gives the events that became whole: {event, data}. `lastId` is the newest id that was told, with an
 * event or without; `retry` the wait that the server asks for, in ms. */
export class EventReader {
  lastId = null;
  retry = null;
  #rest = "";
  #lines = [];

  take(piece) {
    const text = this.#rest + piece;
    // A CR at the very end may be half of a CR LF: it waits for what follows.
    const whole = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, whole).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() + text.slice(whole);
    const events = [];
    for (const line of lines) {
      if (line !== "") this.#lines.push(line);
      else if (this.#lines.length > 0) this.#ended(events);
    }
    return events;
  }

  #ended(events) {
    let event = "message";
    const data = [];
    for (const line of this.#lines) {
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event = value;
      else if (name === "data") data.push(value);
      else if (name === "id" && !value.includes("\0")) this.lastId = value;
      else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    }
    this.#lines = [];
    if (data.length > 0) events.push({ event, data: data.join("\n") });
  }
}
