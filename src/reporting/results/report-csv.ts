import { METRICS, type Report, type ReportRow } from "../../domain/posts/results.ts";
import { guardCells } from "../../posts/imports/cells.ts";

/** A report for spreadsheets: no cell is a formula, and what is not known is empty. Lines end as a terminal prints them. */
export function toCsv({ rows }: Pick<Report, "rows">, names: ReadonlyMap<string, string>): string {
  const head = [
    "key",
    "channel",
    "text",
    "publishedAt",
    "platformUrl",
    "posts",
    "sampled",
    ...METRICS.flatMap((metric) => [`${metric}.median`, `${metric}.sum`, `${metric}.posts`]),
  ];
  return [head, ...rows.map((row) => cellsOf(row, names))]
    .map((cells) => `${cells.map(toCell).join(",")}\n`)
    .join("");
}

function cellsOf(
  { key, posts, sampled, metrics, post }: ReportRow,
  names: ReadonlyMap<string, string>,
): string[] {
  return [
    key,
    names.get(post?.accountId ?? key) ?? "",
    post?.text ?? "",
    post?.publishedAt ?? "",
    post?.platformUrl ?? "",
    String(posts),
    String(sampled),
    ...METRICS.flatMap((metric) => {
      const figure = metrics[metric] ?? null;
      return figure === null ? ["", "", ""] : [figure.median, figure.sum, figure.posts].map(String);
    }),
  ];
}

function toCell(text: string): string {
  const guarded = guardCells(text);
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
