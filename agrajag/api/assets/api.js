// Asks the API, with the token in a header; says in plain words what went wrong and what to do about it.

const MOST = 500;

/** An answer that is no. `status` is 0 where none came; the message is for the person who looks. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const ADVICE = {
  400: "Please check what you entered.",
  401: "Your token is not accepted. Sign in again.",
  403: "Your token does not allow this. Ask somebody who may.",
  404: "It is not there any more.",
  409: "It was refused.",
  422: "Please check what you entered.",
  429: "That was too often. Wait a little, then try again.",
  503: "A part of Agrajag is away. Try again in a moment.",
};

/** What to tell a person: the API's own words if it has any, then what to do. */
export function inPlainWords(status, problem, retryAfter) {
  const told = [problem?.detail, problem?.title].find((text) => typeof text === "string" && text.trim() !== "");
  const wait = /^\d+$/.test(retryAfter ?? "") ? `Try again in ${retryAfter} s.` : null;
  const advice = wait ?? ADVICE[status] ?? (status >= 500 ? "Something broke in Agrajag. Try again in a moment." : "");
  if (status === 401 || told === undefined) return advice || `The API answered ${status}.`;
  return `${sentence(told)} ${advice}`.trim();
}

const sentence = (text) => {
  const whole = text.trim().replace(/^./u, (first) => first.toUpperCase());
  return /[.!?]$/u.test(whole) ? whole : `${whole}.`;
};

/** A key that makes a repeat of the same click the same command. (`randomUUID` is not there on plain HTTP.) */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Path segments, each escaped, so that a tool may be called anything. */
export const path = (...segments) => ["brain", ...segments].map(encodeURIComponent).join("/");

export class Api {
  constructor(token) {
    this.token = token;
  }

  /** The JSON of an answer, and its status and headers. Raises Refusal. */
  async ask(method, address, { query = {}, body, key, signal } = {}) {
    const headers = { Accept: "application/json", ...this.#authorization() };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (key !== undefined) headers["Idempotency-Key"] = key;
    const url = address + searched(query);
    const answer = await reached(fetch(url, { method, headers, signal, body: body && JSON.stringify(body), cache: "no-store" }));
    if (!answer.ok) throw await refusal(answer);
    const content = await answer.json().catch(() => null);
    return { status: answer.status, content, location: answer.headers.get("Location") };
  }

  /** All items of a list, page by page. */
  async all(address, query = {}) {
    const items = [];
    let after = null;
    do {
      const { content } = await this.ask("GET", address, { query: { ...query, limit: MOST, after } });
      items.push(...content.items);
      after = content.nextAfter;
    } while (after);
    return items;
  }

  /** The open answer of a stream of events that goes on after `lastId`. Raises Refusal. */
  async events(address, lastId, signal) {
    const headers = { Accept: "text/event-stream", ...this.#authorization() };
    if (lastId !== null) headers["Last-Event-ID"] = lastId;
    const answer = await reached(fetch(address, { headers, signal, cache: "no-store" }));
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }

  #authorization() {
    return this.token === null ? {} : { Authorization: `Bearer ${this.token}` };
  }
}

async function refusal(answer) {
  const problem = await answer.json().catch(() => null);
  return new Refusal(answer.status, inPlainWords(answer.status, problem, answer.headers.get("Retry-After")));
}

async function reached(asked) {
  try {
    return await asked;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The API does not answer. Check that `agrajag api` runs and that you can reach it.");
  }
}

function searched(query) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
