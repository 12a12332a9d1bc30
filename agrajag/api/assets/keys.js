// The keys of the page, for those who use them; they can be switched off, as single keys must be.

import { byId } from "./element.js";

const STORED = "agrajag.keys";

/** `acts` maps a key to what it does. Nothing is done while somebody types, a dialog is open or the keys are off. */
export function listenForKeys(acts) {
  const on = byId("keys-on");
  on.checked = localStorage.getItem(STORED) !== "off";
  on.addEventListener("change", () => localStorage.setItem(STORED, on.checked ? "on" : "off"));
  byId("show-keys").addEventListener("click", () => byId("keys").showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea");
    if (event.key !== "Escape" && (typing || !on.checked)) return;
    const act = event.key === "?" ? () => byId("keys").showModal() : acts[event.key];
    if (act && act() !== false) event.preventDefault();
  });
}
