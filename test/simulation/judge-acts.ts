import type { Deed, Series } from "./history.ts";
import type { Outcome } from "./judge.ts";
import { isExact, wishesOf } from "./acts-series.ts";

/* What must hold of what people ask beside posts: repeats, series, tables, receivers, keys. */

export function judgeActs(outcome: Outcome): string[] {
  return [
    ...twoAnswers(outcome.deeds),
    ...inPart(outcome),
    ...outcome.series.flatMap((one) => wrongTimes(one, outcome)),
  ];
}

/** A table is imported whole, or not at all. */
function inPart({ wishes, posts }: Outcome): string[] {
  const tables = new Set(wishes.flatMap(({ table, isForgotten }) => (isForgotten ? [] : (table ?? []))));
  return [...tables].flatMap((table) => {
    const rows = wishes.filter((wish) => wish.table === table);
    const made = rows.filter(({ id, versions }) =>
      posts.some((post) => post.id === id || versions.some(({ text }) => text === post.caption)),
    );
    return made.length === 0 || made.length === rows.length
      ? []
      : [`Of ${table} ${made.length} of ${rows.length} rows are there.`];
  });
}

/** Each text has its own day, and what was stopped waits no more. */
function wrongTimes(series: Series, { posts, clockAt }: Outcome): string[] {
  if (series.isForgotten) return [];
  const isKnown = series.approvals.some(({ outcome }) => outcome === "done");
  const isStopped = series.stops.some(({ outcome }) => outcome === "done");
  return wishesOf(series, clockAt).flatMap(({ name, versions }) => {
    const row = posts.find(({ caption }) => caption === versions[0]?.text);
    if (row === undefined) return [];
    const at = versions[0]?.scheduledAt ?? 0;
    return [
      ...(isStopped && row.status === "scheduled" ? [`${name} waits, and its series was stopped.`] : []),
      ...(isKnown && isExact(at, series) && row.scheduledAt !== at
        ? [
            `${name} is at ${new Date(row.scheduledAt).toISOString()}, and not at ${new Date(at).toISOString()}.`,
          ]
        : []),
    ];
  });
}

/** With one key there is one answer. */
function twoAnswers(deeds: readonly Deed[]): string[] {
  const answers = new Map<string, Set<string>>();
  for (const { args, outcome, isForgotten, answer } of deeds) {
    const key = args["idempotencyKey"];
    if (typeof key !== "string" || outcome !== "done" || isForgotten === true) continue;
    answers.set(key, (answers.get(key) ?? new Set()).add(idsIn(answer).join(", ")));
  }
  return [...answers].flatMap(([key, all]) =>
    all.size > 1 ? [`One key, “${key}”, gave different answers: ${[...all].join(" and ")}.`] : [],
  );
}

function idsIn(answer: Deed["answer"]): string[] {
  const found = JSON.stringify(answer).matchAll(/"((?:post|dft)_\w+)"/g);
  return [...new Set([...found].map(([, id]) => id ?? ""))].toSorted();
}
