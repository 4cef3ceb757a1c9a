import {
  type SaidCheck,
  type DecideDraft,
  type Outcome,
  outcomeOf,
  type SaidDraft,
  type SaveDraft,
} from "../../domain/drafts/draft.ts";
import { eachOnce } from "../../domain/posts/plan.ts";
import { join, type Message, type NextStep, say } from "../../domain/sentences.ts";
import { AppError, nothingToChange } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { plainText, plural } from "../../domain/text/plain-text.ts";
import { readSignature, signatureOf } from "../../domain/permissions.ts";
import type { Reader } from "../../store/engine/store.ts";
import {
  type DraftPost,
  type DraftRow,
  findDraftRow,
  insertDraft,
  listDraftPosts,
  writeDraft,
} from "../../store/queries/drafts.ts";
import { namesOfKeys } from "../../access/api-keys.ts";
import { commitOnce } from "../../access/idempotency.ts";
import { namesOfAccounts, describeNamesakes } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import { checkDraft, isPassing, type StoredCheck, writeChecks } from "./checks.ts";
import { changeContent, checkContentForm, contentOf, type DraftContent, toColumns } from "./draft-content.ts";
import { noteDraft } from "./draft-events.ts";
import { findOwnDraft, showDraft } from "./drafts.ts";
import { filesNamed, holdFiles, takeIn } from "./taking-in.ts";

/** Which fields one change touched. */
interface Change {
  readonly revision: number;
  /** The signature of who changed it. */
  readonly keyId: string;
  readonly fields: readonly string[];
}

/** So many of the last changes are kept, to tell a caller who saw an older revision. */
const KEPT_CHANGES = 20;

/**
 * Writes a new draft, or the next revision of one that is still open or waiting. With `submit` it waits for a
 * person. Throws `invalid` naming the field, `not_found`, and `conflict` for a stale revision, for a draft that is
 * decided, and where what is submitted cannot be scheduled.
 */
export async function saveDraft(
  call: CallContext,
  input: SaveDraft,
): Promise<{ draft: SaidDraft; warnings: string[] }> {
  const { ctx, caller } = call;
  const { id, revision, submit = false, ...given } = input;
  const fields = Object.entries(given).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  checkForm(input, fields, call.leftEmpty);
  checkContentForm(call, given);
  const before = id === undefined ? null : await findOwnDraft(ctx.store, caller, id);
  const { content, warnings } = await changeContent(call, before === null ? null : contentOf(before), given);
  if (before !== null) {
    await assertUndecided(ctx.store, before);
    await assertCurrent(ctx.store, before, revision);
  }
  const checked = await checkWritten(call, content, submit);
  const { checks } = checked;
  warnings.push(...checked.warnings, ...passingAmong(checks));
  if (before === null && isEmpty(content)) warnings.push(EMPTY);
  if (submit) warnings.push(...describeUntimed(content));
  if (before?.state === "waiting" && !submit) warnings.push(NO_LONGER_WAITS);
  warnings.push(
    ...(await describeNamesakes(
      call,
      content.targets.map(({ accountId }) => accountId),
    )),
  );
  const named = submit ? await filesNamed(call, checked.content, checks) : [];
  const now = ctx.clock.now();
  const set = {
    ...toColumns(checked.content),
    state: submit ? ("waiting" as const) : ("open" as const),
    checks: writeChecks(checks),
    updated_at: now,
  };
  const answer = await commitOnce(call, async (tx) => {
    await holdFiles(tx, caller.ownerId, named);
    if (before === null) {
      const row = {
        ...set,
        id: newId("dft"),
        owner_id: caller.ownerId,
        revision: 1,
        changes: "[]",
      };
      const made = { ...row, key_id: signatureOf(caller), decision: null, created_at: now };
      await insertDraft(tx, made);
      if (submit) await noteDraft(tx, "draft.waiting", made, { at: now });
      return { draft: await showDraft(tx, made), warnings };
    }
    const changes = noteChange(before, { revision: before.revision + 1, keyId: signatureOf(caller), fields });
    const row = await writeDraft(tx, before, { ...set, changes });
    if (row === null) throw await staleRevision(tx, before);
    if (submit) await noteDraft(tx, "draft.waiting", row, { at: now });
    return { draft: await showDraft(tx, row), warnings };
  });
  return answer;
}

/** Of what waits for a person and has no time, which may have been forgotten: their yes publishes it. */
function describeUntimed({ scheduledAt, slot, repeat, targets }: DraftContent): string[] {
  if (scheduledAt !== null || slot !== null || repeat !== null) return [];
  const untimed = targets.filter((target) => target.scheduledAt === null).length;
  if (untimed === 0) return [];
  const where = untimed === targets.length ? "" : ` on ${plural(untimed, "channel")}`;
  return [
    `It has no time${where}, so it is published as soon as a person approves it. Give scheduledAt or slot if that was not meant.`,
  ];
}

/** Each once, whichever channels it is told of. */
function passingAmong(checks: readonly StoredCheck[]): string[] {
  return eachOnce(checks.flatMap(({ warnings }) => warnings.filter(isPassing).map(String)));
}

/** Who changes it a little may not mean to take it back. */
const NO_LONGER_WAITS = "The draft no longer waits for a person. Send it with submit to ask them again.";

const EMPTY =
  "The draft is empty: it has no text, no media and no channel. Give caption or mediaUrl, and targets.";

function isEmpty({ caption, mediaUrl, metadata, targets, repeat }: DraftContent): boolean {
  return caption === null && mediaUrl === "" && metadata === null && targets.length === 0 && repeat === null;
}

/** After a refusal, whose text an agent would else take for kept. */
const UNSAVED = " Nothing of this call was saved. Without submit it is kept as it is.";

/** Throws `invalid` for what is wrong whatever the draft is. */
function checkForm(
  { id, revision, submit }: SaveDraft,
  fields: readonly string[],
  leftEmpty?: readonly string[],
): void {
  if (id === undefined && revision !== undefined)
    throw new AppError(
      "invalid",
      "revision: belongs to a draft that is there. Give its id, too, or leave it out.",
    );
  if (id === undefined) return;
  if (fields.length === 0 && submit !== true)
    throw nothingToChange("Give a field of the draft, or submit: true.", leftEmpty);
  requireRevision(revision);
}

interface CheckedContent {
  readonly content: DraftContent;
  readonly checks: readonly StoredCheck[];
  readonly warnings: readonly string[];
}

/** What is submitted has its media in the store, where they can be fetched: what a person looks at then stays. */
async function checkWritten(
  call: CallContext,
  content: DraftContent,
  submit: boolean,
): Promise<CheckedContent> {
  const checks = await checkDraft(call, content);
  if (!submit) return { content, checks, warnings: [] };
  await assertReady(call, content, checks, UNSAVED);
  const taken = await takeIn(call, content, checks);
  const again = await checkDraft(call, taken.content, taken.cards);
  await assertReady(call, taken.content, again, UNSAVED);
  const warnings = taken.refused.map(
    (reason) => `${reason} The draft can be approved once it can be fetched.`,
  );
  return { content: taken.content, checks: again, warnings };
}

/** The keys that wrote what a draft holds, as far back as its changes are kept. */
export function writersOf({ key_id: keyId, changes }: DraftRow): string[] {
  const signatures = [keyId, ...(JSON.parse(changes) as Change[]).map((change) => change.keyId)];
  return signatures.map((signature) => readSignature(signature).keyId);
}

export function noteChange(before: DraftRow, change: Change): string {
  const changes = [...(JSON.parse(before.changes) as Change[]), change];
  return JSON.stringify(changes.slice(-KEPT_CHANGES));
}

/** Throws `invalid` without one. */
export function requireRevision(revision: number | undefined): void {
  if (revision !== undefined) return;
  throw new AppError(
    "invalid",
    say("is required, so that no change of others is lost.", {
      field: "revision",
      next: [{ do: "read_draft", revision: null }],
    }),
  );
}

/** Throws `conflict` for a revision that is not the last. */
export async function assertCurrent(
  reader: Reader,
  row: DraftRow,
  revision: number | undefined,
  isOpen?: (now: DraftRow) => boolean,
): Promise<void> {
  if (revision !== row.revision) throw await staleRevision(reader, row, revision, isOpen);
}

/** Says what was changed since. `seen`: default: the revision of the row, which was read a moment ago. */
export async function staleRevision(
  reader: Reader,
  row: DraftRow,
  seen = row.revision,
  isOpen: (now: DraftRow) => boolean = isUndecided,
): Promise<AppError> {
  const now = await findNow(reader, row);
  const names = await namesOfKeys(reader, row.owner_id);
  const since = (JSON.parse(now.changes) as Change[]).filter((change) => change.revision > seen);
  const told = since.map(({ keyId, fields }) => `${names(keyId)} changed ${fields.join(", ")}`);
  const what = told.length === 0 ? "" : ` Since then: ${told.join("; ")}.`;
  const isDecided = isOpen(now) ? "" : " It is decided.";
  const step = { do: "read_draft", revision: isOpen(now) ? now.revision : null } as const;
  return new AppError(
    "conflict",
    say(`${seen} is not the last one. The draft is at ${now.revision}, ${now.state}.${what}${isDecided}`, {
      field: "revision",
      next: [step],
    }),
  );
}

async function findNow(reader: Reader, row: DraftRow): Promise<DraftRow> {
  return (await findDraftRow(reader, row.owner_id, row.id)) ?? row;
}

function isUndecided({ state }: DraftRow): boolean {
  return state === "open" || state === "waiting";
}

/** In these states it is done already. */
const DONE_IN: Partial<Readonly<Record<DraftWish, readonly DraftRow["state"][]>>> = {
  approve: ["scheduled", "repeating", "ended"],
  discard: ["discarded"],
  stop: ["ended"],
};

/** What a call wants of a draft. */
export type DraftWish = DecideDraft["decision"] | "edit";

/** Whether what a call wants of a draft was done before. */
export function isDoneAlready({ state }: DraftRow, wish: DraftWish): boolean {
  return DONE_IN[wish]?.includes(state) === true;
}

/**
 * Why a draft that a person has decided about is not decided about, or changed, once more. Who repeats a call whose
 * answer was lost learns that it is done.
 */
export async function decidedAlready(reader: Reader, row: DraftRow, wish: DraftWish): Promise<AppError> {
  const { state } = row;
  const posts = (await listDraftPosts(reader, [row.id], MAX_LOOKED_AT)).get(row.id) ?? [];
  const statuses = posts.map(({ status }) => status);
  if (isDoneAlready(row, wish)) {
    const became =
      wish === "approve" && state === "scheduled" ? BECAME[outcomeOf(statuses) ?? "waiting"] : null;
    if (became?.isTrouble === true)
      return new AppError(
        "conflict",
        say(`The draft was approved already. ${became.what}`, { next: [READ] }),
      );
    const what =
      wish === "approve" ? `was approved already, and is ${became?.what ?? state}` : `is ${state} already`;
    return new AppError("conflict", `The draft ${what}. Nothing is to be done.`);
  }
  const is =
    wish === "stop" && state === "scheduled"
      ? "The draft is no series, so it cannot be stopped."
      : `The draft ${state === "scheduled" ? "was approved" : `is ${state}`}, so it cannot be changed.`;
  const again = "Only where it is wanted after all, write a new one.";
  if (state === "discarded") return new AppError("conflict", `${is} It goes nowhere. ${again}`);
  if (state === "repeating") return new AppError("conflict", say(is, { next: [{ do: "end_series" }] }));
  if (posts.length > 0 && statuses.every((status) => status === "scheduled"))
    return new AppError("conflict", say(is, { next: [{ do: "change_posts_of_draft" }] }));
  const waits = statuses.includes("scheduled") ? "" : " None of its posts waits any more.";
  const isOver = state === "ended" || statuses.every((status) => status === "cancelled");
  return new AppError("conflict", join(`${is}${waits}`, ...tellPosts(posts), isOver ? again : null));
}

/** What became of posts that were made, for one who would change the draft, or write it anew. */
function tellPosts(posts: readonly DraftPost[]): Message[] {
  return TOLD.flatMap(({ is, are, fits, next }) => {
    const found = posts.filter(fits);
    if (found.length === 0) return [];
    const [first] = posts;
    const subject = posts.length === 1 ? "Its post" : `${found.length} of its ${posts.length} posts`;
    const places = found.flatMap(({ platform_url: url, status }) =>
      status !== "published" || url === null ? [] : [plainText(url, MAX_ADDRESS)],
    );
    const named = places.slice(0, MAX_ADDRESSES).join(", ");
    const more = places.length > MAX_ADDRESSES ? `, and ${places.length - MAX_ADDRESSES} more` : "";
    const read = posts.length === 1 ? ({ do: "read", postId: first?.id ?? null } as const) : READ;
    const what = `${subject} ${found.length === 1 ? is : are}${named === "" ? "" : `, at ${named}${more}`}.`;
    return [say(what, { next: next.length === 0 ? [] : [read, ...next] })];
  });
}

const MAX_ADDRESS = 300;
const MAX_ADDRESSES = 3;

/** `fits`: the posts that it is said of. */
const TOLD: readonly {
  readonly is: string;
  readonly are: string;
  readonly fits: (post: DraftPost) => boolean;
  readonly next: readonly NextStep[];
}[] = [
  {
    is: "is published already",
    are: "are published already",
    fits: ({ status }) => status === "published",
    next: [
      { do: "edit_live", postId: null },
      { do: "take_down", postId: null },
    ],
  },
  {
    is: "is on its way",
    are: "are on their way",
    fits: ({ status }) => status === "publishing" || status === "uploaded",
    next: [],
  },
  {
    is: "failed, and it is not known whether it is out",
    are: "failed, and it is not known whether they are out",
    fits: ({ status, in_doubt: inDoubt }) => status === "failed" && inDoubt === 1,
    next: [{ do: "settle", postId: null }],
  },
  {
    is: "failed",
    are: "failed",
    fits: ({ status, in_doubt: inDoubt }) => status === "failed" && inDoubt === 0,
    next: [{ do: "retry", postId: null, changed: true }],
  },
  {
    is: "is cancelled",
    are: "are cancelled",
    fits: ({ status }) => status === "cancelled",
    next: [],
  },
  {
    is: "still waits",
    are: "still wait",
    fits: ({ status }) => status === "scheduled",
    next: [{ do: "change_posts_of_draft" }],
  },
];

/** A draft has no more, but a series. */
const MAX_LOOKED_AT = 100;

const READ = { do: "read_draft", revision: null } as const;

/** What became of the posts of a draft that was approved. */
const BECAME: Readonly<Record<Outcome, { readonly what: string; readonly isTrouble?: true }>> = {
  waiting: { what: "scheduled" },
  published: { what: "published" },
  cancelled: { what: "cancelled" },
  partly: { what: "Some of its posts failed.", isTrouble: true },
  failed: { what: "Its posts failed.", isTrouble: true },
};

/** Throws `conflict` for a draft that a person has decided about. */
export async function assertUndecided(
  reader: Reader,
  row: DraftRow,
  wish: DraftWish = "edit",
): Promise<void> {
  if (!isUndecided(row)) throw await decidedAlready(reader, row, wish);
}

/** Throws `conflict` with every reason why a draft cannot be scheduled as it stands, and what is added to that. */
export async function assertReady(
  call: CallContext,
  { targets }: DraftContent,
  checks: readonly SaidCheck[],
  added = "",
): Promise<void> {
  if (targets.length === 0)
    throw new AppError("conflict", `targets: the draft goes nowhere yet. Give at least one channel.${added}`);
  const names = await namesOfAccounts(call);
  const reasons = checks.flatMap(({ accountId, error }) =>
    error === null ? [] : [`${names.get(accountId) ?? accountId}:`, error],
  );
  if (reasons.length > 0)
    throw new AppError("conflict", ["The draft cannot be scheduled as it is.", ...reasons, added.trim()]);
}
