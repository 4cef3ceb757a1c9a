import type { Report } from "../../../../src/domain/posts/results.ts";
import { call } from "../../data/tools.ts";
import { type Age, type Figures, figuresOf } from "./metrics.ts";

const MOST_ROWS = 500;
/** More posts than this are not drawn one by one. */
const MOST_POSTS = 10_000;
const LEAST_SPAN_MS = 24 * 60 * 60_000;

export interface LoadedFigures {
  readonly posts: readonly Figures[];
  readonly unavailable: Report["unavailable"];
  /** Older ones were left out. */
  readonly isCut: boolean;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly at: Age;
}

/** What is known of every post of a span. A report has its rows in the order of a metric, so a full one is asked for in two halves. */
export async function loadFigures(span: Span, signal: AbortSignal): Promise<LoadedFigures> {
  const whole = await ask(span, signal);
  const posts: Figures[] = [];
  const todo: { span: Span; report: Report | null }[] = [{ span, report: whole }];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (posts.length >= MOST_POSTS) return { posts, unavailable: whole.unavailable, isCut: true };
    const report = next.report ?? (await ask(next.span, signal));
    const { from, to, at } = next.span;
    if (report.rows.length < MOST_ROWS || to - from < LEAST_SPAN_MS)
      posts.push(...report.rows.flatMap((row) => figuresOf(row) ?? []));
    else {
      const middle = Math.floor((from + to) / 2);
      // The newer half first.
      todo.push(
        { span: { from, to: middle - 1, at }, report: null },
        { span: { from: middle, to, at }, report: null },
      );
    }
  }
  return { posts, unavailable: whole.unavailable, isCut: false };
}

function ask({ from, to, at }: Span, signal: AbortSignal): Promise<Report> {
  const args = {
    by: "post",
    at,
    limit: MOST_ROWS,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  };
  return call("get_report", args, { signal });
}
