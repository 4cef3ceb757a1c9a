export interface Piece {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** The largest table to compute. Larger texts that differ throughout are shown as new. */
const MAX_CELLS = 4_000_000;

/** The changes of a text, word by word. Removed words come before those that replace them. */
export function differencesOf(before: string, after: string): readonly Piece[] {
  const [old, fresh] = [wordsOf(before), wordsOf(after)];
  const start = countEqual(old, fresh);
  const end = countEqual(old.slice(start).toReversed(), fresh.slice(start).toReversed());
  const [oldMiddle, freshMiddle] = [
    old.slice(start, old.length - end),
    fresh.slice(start, fresh.length - end),
  ];
  return together([
    ...fresh.slice(0, start).map((text) => ({ kind: "same" as const, text })),
    ...alignWords(oldMiddle, freshMiddle),
    ...fresh.slice(fresh.length - end).map((text) => ({ kind: "same" as const, text })),
  ]);
}

function wordsOf(text: string): readonly string[] {
  return [...new Intl.Segmenter("en", { granularity: "word" }).segment(text)].map(({ segment }) => segment);
}

function countEqual(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((word, index) => word !== b[index]);
  return at === -1 ? a.length : at;
}

/** By their longest common subsequence. */
function alignWords(old: readonly string[], fresh: readonly string[]): readonly Piece[] {
  if (old.length * fresh.length > MAX_CELLS)
    return [
      { kind: "removed", text: old.join("") },
      { kind: "added", text: fresh.join("") },
    ];
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pieces: Piece[] = [];
  for (let i = 0, j = 0; i < old.length || j < fresh.length;) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      pieces.push({ kind: "same", text: old[i] ?? "" });
      i += 1;
      j += 1;
    } else if (j >= fresh.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      pieces.push({ kind: "removed", text: old[i++] ?? "" });
    else pieces.push({ kind: "added", text: fresh[j++] ?? "" });
  }
  return pieces;
}

/** Neighbours of one kind are one piece. A space between two changed words is a part of the change. */
function together(words: readonly Piece[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let removed = "";
  let added = "";
  let space = "";
  const put = (kind: Piece["kind"], text: string): void => {
    const last = pieces.at(-1);
    if (text === "") return;
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text };
    else pieces.push({ kind, text });
  };
  const flush = (): void => {
    put("removed", removed);
    put("added", added);
    put("same", space);
    removed = added = space = "";
  };
  for (const { kind, text } of words) {
    const isChanging = removed !== "" || added !== "";
    if (kind === "same") {
      if (isChanging && space === "" && /^[^\S\n]+$/.test(text)) space = text;
      else {
        flush();
        put("same", text);
      }
      continue;
    }
    removed += space;
    added += space;
    space = "";
    if (kind === "removed") removed += text;
    else added += text;
  }
  flush();
  return pieces;
}
