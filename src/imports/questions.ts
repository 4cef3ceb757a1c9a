import type { ImportArgs } from "../domain/posts/post-import.ts";
import type { CallContext } from "../context.ts";
import { importPosts } from "./import-posts.ts";

/** Before rows become posts; null where none would. */
export async function askToImport(call: CallContext, args: ImportArgs): Promise<string | null> {
  if (args.dryRun) return null;
  const { counts, warnings } = await importPosts(call, { ...args, dryRun: true });
  if (counts.bad > 0 || counts.new === 0) return null;
  const posts = counts.new === 1 ? "1 post" : `${counts.new} posts`;
  const doubts =
    warnings.length === 0 ? "" : ` There are ${warnings.length} warnings, which a dry run shows.`;
  return `Import ${posts}? Each goes out at its time.${doubts}`;
}
