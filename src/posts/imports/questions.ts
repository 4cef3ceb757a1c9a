import type { ImportArgs } from "../../domain/posts/post-import.ts";
import type { CallContext } from "../../context.ts";
import { isAtOnce, describeDoubts, describePosts } from "../post-in-words.ts";
import { planImport } from "./plan-import.ts";

/** So many warnings stand in a question; a dry run shows all. */
const MAX_DOUBTS = 3;

/** Before rows become posts, which is told of each; null where none would. Drafts wait for a person anyway. */
export async function askToImport(call: CallContext, args: ImportArgs): Promise<string | null> {
  if (args.dryRun || args.as === "drafts") return null;
  const { good, errors, warnings } = await planImport(call, args);
  const posts = good.flatMap(({ prepared }) =>
    prepared === null ? [] : [{ accountId: prepared.row.account_id, content: prepared.content }],
  );
  if (errors.length > 0 || posts.length === 0) return null;
  const told = await describePosts(
    call,
    posts.toSorted((a, b) => a.content.scheduledAt - b.content.scheduledAt),
  );
  const doubts = describeDoubts(
    call,
    warnings.slice(0, MAX_DOUBTS).map(({ warning }) => warning),
  );
  const more = warnings.length - MAX_DOUBTS;
  const others = more > 0 ? ` There are ${more} more warnings, which a dry run shows.` : "";
  return `${whatBecomes(
    call,
    posts.map(({ content }) => content.scheduledAt),
  )} ${told}.${doubts}${others}`;
}

function whatBecomes({ ctx }: CallContext, times: readonly number[]): string {
  const count = times.length;
  const now = times.filter((at) => isAtOnce(ctx, at)).length;
  const posts = count === 1 ? "1 post" : `${count} posts`;
  if (now === count) return `Import ${posts}? ${count === 1 ? "It goes" : "They go"} out now.`;
  const each = count === 1 ? "It goes out at its time." : "Each goes out at its time.";
  return `Import ${posts}? ${now === 0 ? each : `${now} of them ${now === 1 ? "goes" : "go"} out now, the others at their times.`}`;
}
