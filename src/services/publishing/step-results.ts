import type { Json } from "../../ports/platform-io.ts";
import type { PostRow } from "../../store/engine/schema.ts";
import { readResults } from "../../store/queries/post-history.ts";
import type { AppContext } from "../context.ts";

/** What the steps gave that brought a post onto its platform, for whoever works on it afterwards. */
export async function readStepResults(
  ctx: AppContext,
  row: Pick<PostRow, "id" | "run">,
): Promise<{ resultOf(step: string): Json }> {
  const rows = await readResults(ctx.store, row);
  const results = new Map(rows.map(({ step, result }) => [step, JSON.parse(result) as Json]));
  return { resultOf: (step) => results.get(step) ?? null };
}
