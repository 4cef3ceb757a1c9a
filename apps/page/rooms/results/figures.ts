import { METRIC_NAMES } from "./metrics.ts";

/** What a channel's figures are called, in the order in which they are shown. */
const FIGURES: Readonly<Record<string, string>> = { followers: "Followers", posts: "Posts", ...METRIC_NAMES };

/** Posthorn's own, which stand in the other parts of the room. */
const OWN = ["postsPublished", "postsFailed", "latenessP50Ms", "latenessMaxMs"];

export interface Figure {
  readonly name: string;
  readonly title: string;
  /** Null: the platform does not say. That is not zero. */
  readonly value: number | null;
  /** Why it does not say. */
  readonly reason: string | null;
}

/** The platform's figures among the answered ones; those it did not give have the reason. */
export function figuresOf(
  totals: Readonly<Record<string, number | null>>,
  unavailable: readonly { readonly metric: string; readonly reason: string }[],
): readonly Figure[] {
  const reasons = new Map(unavailable.map(({ metric, reason }) => [metric, reason]));
  const names = [...new Set([...Object.keys(totals), ...reasons.keys()])].filter(
    (name) => !OWN.includes(name),
  );
  const order = Object.keys(FIGURES);
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  names.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
  return names.map((name) => ({
    name,
    title: FIGURES[name] ?? name,
    value: totals[name] ?? null,
    reason: reasons.get(name) ?? null,
  }));
}

export function figureInWords(value: number | null): string {
  return value === null ? "–" : value.toLocaleString("en");
}
