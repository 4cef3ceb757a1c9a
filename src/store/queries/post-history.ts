import type { Selectable } from "kysely";
import type { Post } from "../../domain/posts/post.ts";
import { queryOf } from "../engine/handle.ts";
import type { ShownRow } from "../engine/post-columns.ts";
import type { PostRow, Tables } from "../engine/schema.ts";
import type { Reader } from "../engine/store.ts";
import { RESTORED_STEP } from "../engine/ledger.ts";
import { toPost } from "./posts.ts";

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

/** What was refused of a post after it went live, with the key it is told under; {} where nothing was. */
export function readWarnings({ warnings }: { warnings?: string | null }): { warnings?: string[] } {
  return warnings === null || warnings === undefined ? {} : { warnings: JSON.parse(warnings) as string[] };
}

/** A post as an event keeps it: as it was then, with what was refused of it. */
export function showSnapshot(snapshot: string): Post & { warnings?: string[] } {
  const row: ShownRow & { warnings?: string | null } = JSON.parse(snapshot);
  return { ...toPost(row), ...readWarnings(row) };
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
