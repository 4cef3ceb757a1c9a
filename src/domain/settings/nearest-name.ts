const MAX_MISTYPED = 100;

/** The one of these names that a mistyped one probably means; null where none is near. */
export function nearestName(given: string, names: readonly string[]): string | null {
  // The work grows with its length, and longer texts are no slips of the hand.
  if (given.length > MAX_MISTYPED) return null;
  const most = 1 + Math.floor(given.length / 10);
  const near = names
    .filter((name) => Math.abs(name.length - given.length) <= most)
    .map((name) => ({ name, distance: distanceBetween(given, name) }))
    // Of a name as short as "x" nothing would be left of what was given.
    .filter(({ name, distance }) => distance <= most && distance * 2 < name.length)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.name ?? null;
}

/** Optimal string alignment: a letter left out, added, mistaken, or swapped with its neighbour, 1 each. */
function distanceBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (isSame ? 0 : 1),
          isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(a.length, b.length);
}

/** Those that would be near a known one, were their prefix not mistyped. Others' names are left as they are. */
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
