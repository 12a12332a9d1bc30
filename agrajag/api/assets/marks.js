// Marks a state with a shape of its own, so that nobody depends on colours.

import { svg } from "./element.js";
import { STATE_NAMES } from "./summary.js";

const SHAPES = {
  down: ["circle", { cx: 8, cy: 8, r: 7, class: "fill" }, "M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6"],
  degraded: ["path", { d: "M8 1.6 15 14.2H1z", class: "fill" }, "M8 6.2v3.6M8 11.9v.2"],
  paused: ["circle", { cx: 8, cy: 8, r: 6.2, class: "ring" }, "M6.3 5.6v4.8M9.7 5.6v4.8"],
  ok: ["circle", { cx: 8, cy: 8, r: 6.2, class: "ring" }, "M5.2 8.2l2 2 3.7-4.1"],
};

/** The mark of a state. `silent` where a word beside it says the same. */
export function markOf(state, { silent = true } = {}) {
  const [shape, attributes, sign] = SHAPES[state];
  const told = silent ? { "aria-hidden": "true" } : { role: "img", "aria-label": STATE_NAMES[state] };
  return svg(
    "svg",
    { class: `mark is-${state}`, viewBox: "0 0 16 16", width: 16, height: 16, ...told },
    svg(shape, attributes),
    svg("path", { d: sign, class: "sign" }),
  );
}
