// Makes elements. Text becomes text, never markup: what is shown comes from strangers.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; `on` holds listeners, a child that is null or false is left out. */
export function element(tag, attributes = {}, ...children) {
  return furnished(document.createElement(tag), attributes, children);
}

/** The same for the parts of a picture. */
export function svg(tag, attributes = {}, ...children) {
  return furnished(document.createElementNS(SVG, tag), attributes, children);
}

function furnished(node, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** The element of the document with this id. */
export const byId = (id) => document.getElementById(id);

/** Shows or hides; tells whether it is shown now. */
export function shown(node, yes) {
  node.hidden = !yes;
  return yes;
}

/** Runs `update`, which may replace what is in `container`, and puts the focus and what was unfolded back.
 *
 * What shall be found again has a `data-place` that stays the same. */
export function keepingPlace(container, update) {
  const focused = container.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  const open = new Set([...container.querySelectorAll("details[data-place][open]")].map(placeOf));
  update();
  for (const details of container.querySelectorAll("details[data-place]")) {
    if (open.has(placeOf(details))) details.open = true;
  }
  if (focused !== null && !container.contains(document.activeElement)) {
    const again = [...container.querySelectorAll("[data-place]")].find((node) => placeOf(node) === focused);
    (again ?? container).focus({ preventScroll: true });
  }
}

const placeOf = (node) => node.dataset.place ?? "";
