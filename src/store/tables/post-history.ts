import type { Selectable } from "kysely";
import { queryOf } from "../engine/handle.ts";
import type { PostRow, Tables } from "../engine/schema.ts";
import type { Reader } from "../engine/store.ts";
import { RESTORED_STEP } from "../engine/ledger.ts";

export type AttemptRow = Selectable<Tables["attempts"]>;
export type StepRow = Pick<
  Selectable<Tables["effects"]>,
  "run" | "step" | "state" | "started_at" | "finished_at"
>;

/** The attempts of a post, and the steps that were taken towards its platform, each oldest first. */
export async function readAttempts(
  reader: Reader,
  post: Pick<PostRow, "id" | "owner_id">,
): Promise<{ attempts: AttemptRow[]; steps: StepRow[] }> {
  const attempts = await queryOf(reader)
    .selectFrom("attempts")
    .selectAll()
    .where("post_id", "=", post.id)
    .where("owner_id", "=", post.owner_id)
    .orderBy("number")
    .execute();
  const steps = await queryOf(reader)
    .selectFrom("effects")
    .select(["run", "step", "state", "started_at", "finished_at"])
    .where("post_id", "=", post.id)
    .where("step", "not like", "once:%")
    .where("step", "not like", "extra:%")
    .where("step", "<>", RESTORED_STEP)
    .orderBy("started_at")
    .execute();
  return { attempts, steps };
}

/** What the steps that are done gave in the post's present run. */
export async function readResults(
  reader: Reader,
  post: Pick<PostRow, "id" | "run">,
): Promise<{ step: string; result: string }[]> {
  const rows = await queryOf(reader)
    .selectFrom("effects")
    .select(["step", "result"])
    .where("post_id", "=", post.id)
    .where("run", "=", post.run)
    .where("state", "=", "done")
    .execute();
  return rows.flatMap(({ step, result }) => (result === null ? [] : [{ step, result }]));
}

/** Whether anything was begun in the post's present run. */
export async function hasEffects(reader: Reader, post: Pick<PostRow, "id" | "run">): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("effects")
    .select("step")
    .where("post_id", "=", post.id)
    .where("run", "=", post.run)
    .executeTakeFirst();
  return row !== undefined;
}
