import type { Selectable } from "kysely";
import type { DraftState, Target } from "../../domain/drafts/draft.ts";
import type { Series } from "../../domain/drafts/repeat.ts";
import type { Position } from "../engine/search.ts";
import type { PostRow, Tables } from "../schema/tables.ts";
import { deleteRows, findRow, listRows, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { readMeta } from "./meta.ts";

export type DraftRow = Selectable<Tables["drafts"]>;

export async function insertDraft(tx: Tx, row: DraftRow): Promise<void> {
  await queryOf(tx).insertInto("drafts").values(row).execute();
}

export async function findDraftRow(reader: Reader, ownerId: string, id: string): Promise<DraftRow | null> {
  return (await findRow(reader, "drafts", { id, owner_id: ownerId })) ?? null;
}

/** Last changed first, those before this place. */
export function listDraftRows(
  reader: Reader,
  filter: { readonly ownerId: string; readonly states: readonly DraftState[] | null },
  page: { readonly before: Position | null; readonly limit: number },
): Promise<DraftRow[]> {
  const { before } = page;
  return queryOf(reader)
    .selectFrom("drafts")
    .selectAll()
    .where("owner_id", "=", filter.ownerId)
    .$if(filter.states !== null, (query) => query.where("state", "in", filter.states ?? []))
    .$if(before !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("updated_at", "id"), "<", tuple(before?.at ?? 0, before?.id ?? "")),
      ),
    )
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}

/** Where each draft goes that waits for a person. */
export async function listWaitingTargets(reader: Reader, ownerId: string): Promise<Target[][]> {
  const rows = await queryOf(reader)
    .selectFrom("drafts")
    .select("targets")
    .where("owner_id", "=", ownerId)
    .where("state", "=", "waiting")
    .execute();
  return rows.map(({ targets }) => JSON.parse(targets) as Target[]);
}

/** What an undecided draft says on its channels; texts without spaces around them, in NFC. */
export interface DraftTexts {
  readonly id: string;
  readonly state: DraftState;
  readonly texts: readonly { readonly accountId: string; readonly text: string }[];
}

/** Of all drafts that a person may still approve. */
export async function listDraftTexts(reader: Reader, ownerId: string): Promise<DraftTexts[]> {
  const rows = await queryOf(reader)
    .selectFrom("drafts")
    .select(["id", "state", "caption", "targets", "repeat"])
    .where("owner_id", "=", ownerId)
    .where("state", "in", ["open", "waiting"])
    .orderBy("id")
    .execute();
  return rows.map(({ id, state, caption, targets, repeat }) => {
    const turns = repeat === null ? undefined : (JSON.parse(repeat) as Series).texts;
    const shared = turns ?? [caption ?? ""];
    const texts = (JSON.parse(targets) as Target[]).flatMap((target) =>
      (target.caption === null ? shared : [target.caption]).map((text) => ({
        accountId: target.accountId,
        text: text.trim().normalize("NFC"),
      })),
    );
    return { id, state, texts };
  });
}

/** The next revision, written over the one that was read. Null where that is not the last one any more. */
export async function writeDraft(
  tx: Tx,
  before: Pick<DraftRow, "id" | "owner_id" | "revision">,
  set: Partial<DraftRow>,
): Promise<DraftRow | null> {
  const row = await queryOf(tx)
    .updateTable("drafts")
    .set({ ...set, revision: before.revision + 1 })
    .where("id", "=", before.id)
    .where("owner_id", "=", before.owner_id)
    .where("revision", "=", before.revision)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/** Every series that goes on, of all owners. */
export function listRepeating(reader: Reader): Promise<DraftRow[]> {
  return listRows(reader, "drafts", { state: "repeating" }, "id");
}

/** Keeps others from making posts of this series or ending it. Null where it does not go on any more. */
export async function lockRepeating(tx: Tx, { id, revision }: DraftRow): Promise<DraftRow | null> {
  const query = queryOf(tx)
    .updateTable("drafts")
    // Writing the row locks it on both engines.
    .set({ state: "repeating" })
    .where("id", "=", id)
    .where("state", "=", "repeating")
    .where("revision", "=", revision);
  return (await query.returningAll().executeTakeFirst()) ?? null;
}

/** What the last try to make posts of a series found; no change of the draft. */
export async function noteChecks(tx: Tx, { id, revision }: DraftRow, checks: string): Promise<void> {
  await updateRows(tx, "drafts", { id, revision }, { checks });
}

/** A post of a draft, and which channel and occurrence it is for. */
export type DraftPost = Pick<
  PostRow,
  "id" | "account_id" | "status" | "scheduled_at" | "platform_url" | "error" | "in_doubt"
> & { readonly draft_id: string | null; readonly occurrence: number };

/** Earliest first; of each the last so many. */
export async function listDraftPosts(
  reader: Reader,
  draftIds: readonly string[],
  limit: number,
): Promise<ReadonlyMap<string, readonly DraftPost[]>> {
  const lists = await Promise.all(
    draftIds.map((id) =>
      queryOf(reader)
        .selectFrom("post_plans")
        .innerJoin("posts", "posts.id", "post_plans.post_id")
        .select(["posts.id", "posts.account_id", "posts.status", "posts.scheduled_at", "posts.platform_url"])
        .select(["posts.error", "posts.in_doubt", "post_plans.draft_id", "post_plans.occurrence"])
        .where("post_plans.draft_id", "=", id)
        .orderBy("posts.scheduled_at", "desc")
        .orderBy("posts.id", "desc")
        .limit(limit)
        .execute(),
    ),
  );
  return new Map(draftIds.map((id, at) => [id, (lists[at] ?? []).toReversed()]));
}

/** Which occurrences of a series have a post, by channel: `acc_… 1795000000000`. */
export async function listMade(reader: Reader, draftId: string, from: number): Promise<ReadonlySet<string>> {
  const rows = await queryOf(reader)
    .selectFrom("post_plans")
    .select(["account_id", "occurrence"])
    .where("draft_id", "=", draftId)
    .where("occurrence", ">=", from)
    .execute();
  return new Set(rows.map((row) => `${row.account_id} ${row.occurrence}`));
}

/** The posts of a draft that still wait. */
export async function listWaitingPosts(reader: Reader, draftId: string): Promise<string[]> {
  const rows = await queryOf(reader)
    .selectFrom("post_plans")
    .innerJoin("posts", "posts.id", "post_plans.post_id")
    .select("posts.id")
    .where("post_plans.draft_id", "=", draftId)
    .where("posts.status", "=", "scheduled")
    .where("posts.lease_worker", "is", null)
    .orderBy("posts.id")
    .execute();
  return rows.map(({ id }) => id);
}

/** The drafts with a failed post that was due since then. */
export async function listFailedDrafts(reader: Reader, ownerId: string, since: number): Promise<string[]> {
  const rows = await queryOf(reader)
    .selectFrom("posts")
    .innerJoin("post_plans", "post_plans.post_id", "posts.id")
    .select("post_plans.draft_id")
    .distinct()
    .where("posts.owner_id", "=", ownerId)
    .where("posts.status", "=", "failed")
    .where("posts.scheduled_at", ">=", since)
    .where("post_plans.draft_id", "is not", null)
    .execute();
  return rows.flatMap(({ draft_id: id }) => id ?? []);
}

/** Drafts in these states that name one of the owner's files, or whose link's picture it is. */
export function listDraftsNaming(
  reader: Reader,
  ownerId: string,
  { key, states }: { readonly key: string; readonly states: readonly DraftState[] },
): Promise<DraftRow[]> {
  const url = `r2://${key}`;
  const quoted = `%"${url}"%`;
  return queryOf(reader)
    .selectFrom("drafts")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("state", "in", states)
    .where((eb) =>
      eb.or([
        eb("media_url", "=", url),
        ...(["metadata", "targets", "checks"] as const).map((column) => eb(column, "like", quoted)),
      ]),
    )
    .execute();
}

/** How many drafts wait for a person. `accountIds`: only those that go to no other account. */
export async function countWaitingDrafts(
  reader: Reader,
  { ownerId, accountIds }: { readonly ownerId: string; readonly accountIds: readonly string[] | null },
): Promise<number> {
  const rows = await listRows(reader, "drafts", { owner_id: ownerId, state: "waiting" }, "id");
  const isMeant = ({ targets }: DraftRow): boolean =>
    accountIds === null ||
    (JSON.parse(targets) as Target[]).every(({ accountId }) => accountIds.includes(accountId));
  return rows.filter(isMeant).length;
}

/** In `meta`, before the id: drafts that may have been decided in what a copy that was put back does not know. */
export const UNSURE = "restored_draft:";

/** When the copy was put back in which the draft is undecided. Null: it was not, or a person was told. */
export async function readUnsure(reader: Reader, id: string): Promise<number | null> {
  const at = await readMeta(reader, UNSURE + id);
  return at === null ? null : Number(at);
}

/** From here on it is as any other. False where it was already. */
export async function endUnsure(tx: Tx, id: string): Promise<boolean> {
  return (await deleteRows(tx, "meta", { key: UNSURE + id })) === 1;
}
