// Asks before something is done: what it means, why, and whether really.

import { byId, element } from "./element.js";

/** A labelled line of text for the reason. */
export function reasonField({ required, placeholder }) {
  const input = element("input", {
    id: "ask-reason", name: "reason", type: "text", maxlength: 500, required, placeholder, autocomplete: "off",
  });
  return element("p", { class: "field" }, element("label", { for: "ask-reason" }, required ? "Reason" : "Reason (if you like)"), input);
}

/** A choice of one among few: [[value, words], …]. */
export function choiceField(name, legend, choices, chosen) {
  const labels = choices.map(([value, words]) =>
    element("label", {}, element("input", { type: "radio", name, value, checked: value === chosen }), ` ${words}`),
  );
  return element("fieldset", { class: "field choice" }, element("legend", {}, legend), labels);
}

/** A choice of one among several. */
export function selectField(name, label, choices, chosen) {
  const options = choices.map(([value, words]) => element("option", { value, selected: value === chosen }, words));
  const select = element("select", { id: `ask-${name}`, name }, options);
  return element("p", { class: "field" }, element("label", { for: select.id }, label), select);
}

/** Opens the dialog. `onConfirm(values)` does it; what it raises is told in the dialog, which then stays open. */
export function ask({ title, explanation, fields, confirm, grave = false, onConfirm }) {
  const dialog = byId("ask");
  const problem = element("p", { class: "problem", role: "alert" });
  const yes = element("button", { type: "submit", class: grave ? "primary grave" : "primary" }, confirm);
  const no = element("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel");
  const form = element(
    "form",
    { method: "dialog", novalidate: true },
    element("h2", { id: "ask-title" }, title),
    explanation && element("p", {}, explanation),
    fields,
    problem,
    element("p", { class: "buttons" }, yes, no),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    values.reason = values.reason?.trim() ?? "";
    if (form.querySelector("[name=reason][required]") && values.reason === "") {
      problem.textContent = "Please say why: others will read it.";
      form.elements.reason.focus();
      return;
    }
    problem.textContent = "";
    yes.disabled = true;
    try {
      await onConfirm(values);
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      yes.disabled = false;
    }
  });
  dialog.replaceChildren(form);
  goBackAfter(dialog);
  dialog.showModal();
}

/** What had the focus may have been made anew meanwhile, or be gone: then its place, or the view that it was in. */
function goBackAfter(dialog) {
  const before = document.activeElement;
  const { place } = before.dataset;
  const around = before.closest("section[tabindex]") ?? byId("main");
  const goBack = () => {
    if (before.isConnected || place === undefined) return;
    const again = [...document.querySelectorAll("[data-place]")].find((node) => node.dataset.place === place);
    (again ?? around).focus({ preventScroll: true });
  };
  dialog.addEventListener("close", goBack, { once: true });
}
