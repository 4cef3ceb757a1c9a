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

/** A part of the page that stands in its HTML, or in what is mounted within it. */
export function part(id: string, within: ParentNode = document): HTMLElement {
  const found = within.querySelector<HTMLElement>(`#${id}`);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

/** Replaces children and gives the focus back to the element of the same `data-key`. */
function replaceKeepingFocus(root: HTMLElement, render: () => void, wanted: string | null): void {
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

type Field = HTMLInputElement | HTMLTextAreaElement;

/** The same, and what is being typed survives news about something else. */
export function replaceKeepingTyped(root: HTMLElement, render: () => void, wanted: string | null): void {
  const fields = (): readonly Field[] => [
    ...root.querySelectorAll<Field>("input[data-key], textarea[data-key]"),
  ];
  const changed = fields().filter((field) => field.value !== field.defaultValue);
  const typed = new Map(changed.map((field) => [field.dataset["key"] ?? "", field.value]));
  replaceKeepingFocus(root, render, wanted);
  for (const field of fields()) field.value = typed.get(field.dataset["key"] ?? "") ?? field.value;
}
