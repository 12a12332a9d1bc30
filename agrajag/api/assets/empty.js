// Says what to do where there is nothing to see.

import { element } from "./element.js";

const command = (text) => element("code", { class: "command" }, text);

/** No tenant has a document yet. */
export function noTenantYet() {
  return [
    "Agrajag lists a tool here once a call of it has failed. Report a first error, and this page will show it by itself:",
    command('agrajag report my_tool "bad gateway" --status 502 --tenant acme'),
  ];
}

/** The tenant has no document yet. */
export function nothingYet(tenant) {
  return [
    element("h2", {}, "Nothing has been reported yet"),
    element("p", {}, "A tool is listed here once a call of it has failed. Report a first error, and it will show by itself:"),
    command(`agrajag report my_tool "bad gateway" --status 502 --tenant ${tenant}`),
  ];
}

/** There are tools, and none of them fits what is looked for. */
export function nothingFits(onShowAll) {
  return [
    element("h2", {}, "No tool fits"),
    element("p", {}, "Look for fewer words, or for any state."),
    element("button", { type: "button", on: { click: onShowAll } }, "Show all tools"),
  ];
}
