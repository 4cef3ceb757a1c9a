type Value = string | number | boolean | null;

/**
 * An element with attributes (false and null leave one out, true gives a bare one, or "true" to `aria-` ones)
 * and children; texts become text nodes and are never read as HTML.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Value>>,
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false)
      made.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A part of the page that stands in its HTML. */
export function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

/** Replaces children and gives the focus back to the element of the same `data-key`. */
export function replaceKeepingFocus(root: HTMLElement, render: () => void, wanted: string | null): void {
  const active = document.activeElement;
  const before =
    active instanceof HTMLElement && root.contains(active) ? (active.dataset["key"] ?? null) : null;
  render();
  const key = wanted ?? before;
  if (
    key === null ||
    (wanted === null &&
      document.activeElement instanceof HTMLElement &&
      document.activeElement.dataset["key"] === key)
  )
    return;
  findKey(root, key)?.focus({ preventScroll: wanted === null });
}

function findKey(root: HTMLElement, key: string): HTMLElement | null {
  return (
    [...root.querySelectorAll<HTMLElement>("[data-key]")].find((one) => one.dataset["key"] === key) ?? null
  );
}
