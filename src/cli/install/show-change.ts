/** The lines that go (-) and come (+), without those around them that stay. */
export function showChange(before: string, after: string): string {
  const old = linesOf(before);
  const fresh = linesOf(after);
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const gone = old.slice(head, old.length - tail).map((line) => `- ${line}\n`);
  const come = fresh.slice(head, fresh.length - tail).map((line) => `+ ${line}\n`);
  return [...gone, ...come].join("");
}

function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
