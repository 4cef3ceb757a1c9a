/** A table of Markdown; a bar in a cell does not end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Names as code, separated by commas. */
export function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** A colon ends it, too; within brackets nothing does. */
export function firstSentence(text: string): string {
  const ends = [...text.matchAll(/[.:](?=\s|$)/g)].map(({ index }) => text.slice(0, index));
  const isWhole = (part: string): boolean => part.split("(").length === part.split(")").length;
  const sentence = ends.find(isWhole);
  return sentence === undefined ? text : `${sentence}.`;
}
