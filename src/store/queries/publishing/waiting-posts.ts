import type { Selectable } from "kysely";
import type { PostRow, Tables } from "../../schema/tables.ts";
import { queryOf } from "../../engine/statements.ts";
import type { Reader } from "../../engine/store.ts";

type AccountColumns = Pick<
  Selectable<Tables["accounts"]>,
  "name" | "handle" | "status_reason" | "paused" | "in_flight_post" | "next_allowed_at" | "wait_cause"
>;

/** A post that no publisher works on, with what may keep its channel from sending it. */
export type WaitingPost = Pick<PostRow, "id" | "status" | "provider" | "in_doubt"> &
  AccountColumns & {
    readonly account_status: Tables["accounts"]["status"];
    /** Of its last attempt. */
    readonly last_error: string | null;
  };

/** Those of these posts that no publisher works on. */
export function listWaits(reader: Reader, ids: readonly string[]): Promise<WaitingPost[]> {
  return queryOf(reader)
    .selectFrom("posts")
    .innerJoin("accounts", "accounts.id", "posts.account_id")
    .leftJoin("attempts", (join) =>
      join.onRef("attempts.post_id", "=", "posts.id").onRef("attempts.number", "=", "posts.attempts"),
    )
    .select(["posts.id", "posts.status", "posts.provider", "posts.in_doubt"])
    .select(["accounts.name", "accounts.handle", "accounts.status_reason", "accounts.paused"])
    .select(["accounts.in_flight_post", "accounts.next_allowed_at", "accounts.wait_cause"])
    .select(["accounts.status as account_status", "attempts.error as last_error"])
    .where("posts.id", "in", ids)
    .where("posts.lease_worker", "is", null)
    .execute();
}
