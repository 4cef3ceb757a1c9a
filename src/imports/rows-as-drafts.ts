import type { ImportArgs, RowWarning } from "../domain/posts/post-import.ts";
import { plural } from "../domain/plain-text.ts";
import { type Said, say } from "../domain/sentences.ts";
import { statesOfDrafts } from "../store/queries/imported-rows.ts";
import type { CallContext } from "../context.ts";

/* A row is made into a post or a draft once. Where it is a draft, the counts alone would read as if it were planned. */

/** A good row; `id`: the post or draft that it is already. */
interface KnownRow {
  readonly line: number;
  readonly id: string | null;
}

const MADE = say("Drafts that wait for a person: nothing of them goes out before they approve.", {
  next: [{ do: "approve_drafts" }],
});

/** What is said of rows that are drafts already, by what became of those. */
export async function tellDrafts(
  { ctx, caller }: CallContext,
  { as }: Pick<ImportArgs, "as">,
  rows: readonly KnownRow[],
): Promise<RowWarning[]> {
  const drafts = rows.flatMap(({ line, id }) => (id?.startsWith("dft_") === true ? [{ line, id }] : []));
  if (drafts.length === 0) return [];
  const states = await statesOfDrafts(
    ctx.store,
    caller.ownerId,
    drafts.map(({ id }) => id),
  );
  const inState = (...wanted: readonly (string | undefined)[]): { readonly line: number }[] =>
    drafts.filter(({ id }) => wanted.includes(states.get(id)));
  const not = as === "posts" ? "not scheduled" : "not made again";
  return [
    ...about(inState("open", "waiting"), (count) =>
      say(
        `${count} ${of(count, "is a draft", "are drafts")} already, from an earlier import, so ${not}. A person approves drafts.`,
        { next: [{ do: "approve_drafts" }] },
      ),
    ),
    ...about(
      inState("discarded"),
      (count) =>
        `${count} ${of(count, "was a draft that was", "were drafts that were")} discarded, so ${not}. Where one is wanted after all, change its row, then import again.`,
    ),
  ];
}

/** After rows were made into drafts. */
export function tellMade(
  { as }: Pick<ImportArgs, "as">,
  rows: readonly { readonly line: number; readonly mark: string }[],
  made: ReadonlySet<string>,
): RowWarning[] {
  const drafts = as === "drafts" ? rows.filter(({ mark }) => made.has(mark)) : [];
  return about(drafts, () => MADE);
}

function about(rows: readonly { readonly line: number }[], tell: (count: string) => Said): RowWarning[] {
  const [first] = rows;
  if (first === undefined) return [];
  return [{ line: first.line, rows: rows.length, warning: tell(plural(rows.length, "row")) }];
}

function of(count: string, one: string, several: string): string {
  return count.startsWith("1 ") ? one : several;
}
