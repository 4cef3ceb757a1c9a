import { nearestName } from "./nearest-name.ts";

/** Those that would be near a known one, were their prefix not mistyped. Others' names are left alone. */
export function mistypedNames(names: readonly string[], known: readonly string[]): string[] {
  return names.filter((name) => {
    const [prefix = "", ...rest] = name.split("_");
    const meant = nearestName(prefix, ["POSTHORN"]);
    return meant !== null && nearestName([meant, ...rest].join("_"), known) !== null;
  });
}

/** A sentence for each name that is not known; `others` may be suggested, too. */
export function explainUnknown(
  names: readonly string[],
  known: readonly string[],
  others: readonly string[],
): string[] {
  const all = [...known, ...others];
  return [...new Set(names)]
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = [name, `POSTHORN_${name}`, name.replace(/^POSTHORN_/, "")]
        .map((text) => nearestName(text, all))
        .find((found) => found !== null);
      return `${name}: no such setting.${near === undefined ? "" : ` ${didYouMean(near)}`}`;
    });
}

export function didYouMean(name: string): string {
  return `Did you mean ${name}?`;
}
