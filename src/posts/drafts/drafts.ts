import { type SearchTerm, hasTerms, parseSearch } from "../../domain/text/compare-words.ts";
import { fromStoredOrNull, type Said, say } from "../../domain/sentences.ts";
import { decodeCursor, encodeCursor, unknownCursor } from "../../domain/cursor.ts";
import {
  type By,
  type Decision,
  type DraftState,
  type SaidDraft,
  type SaidDraftPage,
  type ListDraftsArgs,
  inOrder,
  outcomeOf,
} from "../../domain/drafts/draft.ts";
import { aheadOf, lateStartOf, type Series } from "../../domain/drafts/repeat.ts";
import { AppError } from "../../domain/errors.ts";
import type { Now } from "../../domain/arguments/spoken-times.ts";
import { atWallTime } from "../../domain/wall-clock.ts";
import { type Caller, canReachAccount, readSignature } from "../../domain/permissions.ts";
import { formatTime, toIso, toIsoOrNull } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { Position } from "../../store/engine/search.ts";
import type { Reader } from "../../store/engine/store.ts";
import {
  type DraftPost,
  type DraftRow,
  findDraftRow,
  listDraftPosts,
  listDraftRows,
} from "../../store/queries/drafts.ts";
import { listAccountRows } from "../../store/queries/accounts.ts";
import { isCut, toldState } from "../../domain/accounts/account.ts";
import { namesOfKeys } from "../../access/api-keys.ts";
import { meantAccountIds } from "../../channels/accounts/accounts.ts";
import type { AppContext, CallContext } from "../../context.ts";
import { NOW_WINDOW_MS } from "../prepare.ts";
import { NO_TIME, readChecks } from "./checks.ts";
import { contentOf } from "./draft-content.ts";

/**
 * What is stored of a decision, with the signature of who made it; the key's name is looked up when it is shown.
 * `wasAsked`: the draft waited for it. Older ones do not say.
 */
export type StoredDecision = Omit<Decision, "by"> & { readonly keyId: string; readonly wasAsked?: boolean };

/** A series has more posts than anybody reads at once. */
const MAX_POSTS = 100;

/** The caller's draft. Throws `not_found` for every other. */
export async function findOwnDraft(
  reader: Reader,
  caller: Caller,
  id: string,
  field = "id",
): Promise<DraftRow> {
  const row = await findDraftRow(reader, caller.ownerId, id);
  if (row !== null && canReachDraft(caller, row)) return row;
  if (id.startsWith("post_"))
    throw new AppError(
      "not_found",
      say(`${quote(id)} is the id of a post, not of a draft.`, {
        field,
        next: [{ do: "read", postId: id }],
      }),
    );
  throw new AppError(
    "not_found",
    say(`there is no draft ${quote(id)}.`, { field, next: [{ do: "list", of: "drafts" }] }),
  );
}

/** A limited key sees drafts whose channels are all its own, and what it wrote itself. */
function canReachDraft(caller: Caller, row: DraftRow): boolean {
  if (caller.accountIds === null) return true;
  const { targets } = contentOf(row);
  if (targets.length === 0) return readSignature(row.key_id).keyId === caller.keyId;
  return targets.every(({ accountId }) => canReachAccount(caller, accountId));
}

/** Rows as every face shows them. */
export async function showDrafts(
  reader: Reader,
  ownerId: string,
  rows: readonly DraftRow[],
): Promise<SaidDraft[]> {
  if (rows.length === 0) return [];
  const names = await namesOfKeys(reader, ownerId);
  const ids = rows.map(({ id }) => id);
  const posts = await listDraftPosts(reader, ids, MAX_POSTS);
  const by = (signature: string): By => ({
    keyId: readSignature(signature).keyId,
    name: names(signature),
  });
  const holds = rows.some(tellsOfChannel) ? await readHolding(reader, ownerId) : () => true;
  return rows.map((row) => toDraft(row, posts.get(row.id) ?? [], { by, holds }));
}

function tellsOfChannel(row: DraftRow): boolean {
  return readChecks(row).some(({ warnings }) =>
    warnings.some((warning) => toldState(String(warning)) !== null),
  );
}

/** Whether what a warning tells of a channel is so now. */
type Holding = (accountId: string, warning: Said) => boolean;

async function readHolding(reader: Reader, ownerId: string): Promise<Holding> {
  const accounts = new Map((await listAccountRows(reader, ownerId)).map((row) => [row.id, row]));
  return (accountId, warning) => {
    const told = toldState(String(warning));
    const account = accounts.get(accountId);
    if (told === null || account === undefined) return told === null;
    return told === "paused" ? account.paused === 1 : told === "reconnect" && isCut(account);
  };
}

/** The checks as they were made, without what was told of a channel's state then and is over. */
function checksNow(row: DraftRow, posts: readonly DraftPost[], holds: Holding): SaidDraft["checks"] {
  const isOver = ({ accountId }: { readonly accountId: string }): boolean =>
    row.state === "discarded" || row.state === "ended" || isOut(accountId, posts);
  return readChecks(row).map(({ card: _card, ...check }) => ({
    ...check,
    warnings: check.warnings.filter((warning) =>
      isOver(check) ? toldState(String(warning)) === null : holds(check.accountId, warning),
    ),
  }));
}

/** Whether no post on the channel is still to go out. */
function isOut(accountId: string, posts: readonly DraftPost[]): boolean {
  const own = posts.filter((post) => post.account_id === accountId);
  return own.length > 0 && own.every(({ status }) => status !== "scheduled");
}

export async function showDraft(reader: Reader, row: DraftRow): Promise<SaidDraft> {
  const [draft] = await showDrafts(reader, row.owner_id, [row]);
  if (draft === undefined) throw new Error("A draft that is there is shown.");
  return draft;
}

function toDraft(
  row: DraftRow,
  posts: readonly DraftPost[],
  { by, holds }: { readonly by: (keyId: string) => By; readonly holds: Holding },
): SaidDraft {
  const content = contentOf(row);
  // Of a series that goes on, the next posts come in spite of those that were cancelled.
  const became = outcomeOf(posts.map(({ status }) => status));
  return {
    id: row.id,
    title: content.title,
    state: row.state,
    revision: row.revision,
    caption: content.caption,
    mediaUrl: content.mediaUrl,
    metadata: content.metadata,
    targets: [...content.targets],
    scheduledAt: toIsoOrNull(content.scheduledAt),
    slot: content.slot,
    repeat: content.repeat,
    labels: [...content.labels],
    note: content.note,
    checks: checksNow(row, posts, holds),
    writtenBy: by(row.key_id),
    decision: row.decision === null ? null : toDecision(JSON.parse(row.decision) as StoredDecision, by),
    posts: inOrder(posts, content.targets).map((post) => ({
      id: post.id,
      accountId: post.account_id,
      status: post.status,
      scheduledAt: toIso(post.scheduled_at),
      platformUrl: post.platform_url,
      error: fromStoredOrNull(post.error),
    })),
    outcome: row.state === "repeating" && became === "cancelled" ? "waiting" : became,
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  };
}

function toDecision({ keyId, ...decision }: StoredDecision, by: (keyId: string) => By): Decision {
  return {
    what: decision.what,
    by: by(keyId),
    at: decision.at,
    note: decision.note,
    revision: decision.revision,
  };
}

/** So many are read at once to find those that fit. */
const BATCH = 200;

/** A page of the caller's drafts, or one of them. Throws `not_found` where that is none. */
export async function listDrafts(call: CallContext, args: ListDraftsArgs): Promise<SaidDraftPage> {
  const { ctx, caller } = call;
  if (args.id !== undefined) {
    const row = await findOwnDraft(ctx.store, caller, args.id);
    return { drafts: await showUndecided(call, [row]), nextCursor: null };
  }
  const filter = await readFilter(ctx, caller, args);
  const rows: DraftRow[] = [];
  let before = args.cursor === undefined ? null : readPosition(args.cursor, filter.key);
  for (;;) {
    const page = { before, limit: BATCH };
    const batch = await listDraftRows(
      ctx.store,
      { ownerId: caller.ownerId, states: args.state ?? null },
      page,
    );
    rows.push(...batch.filter((row) => canReachDraft(caller, row) && filter.fits(row)));
    const last = batch.at(-1);
    if (rows.length > args.limit || batch.length < BATCH || last === undefined) break;
    before = { at: last.updated_at, id: last.id };
  }
  const shown = rows.slice(0, args.limit);
  const last = rows.length > args.limit ? shown.at(-1) : undefined;
  const next = last === undefined ? null : encodeCursor(`${last.updated_at} ${last.id}`, filter.key);
  return { drafts: await showUndecided(call, shown), nextCursor: next };
}

/** Rows as they are listed: those whose time is over while they wait for a decision say so. */
export async function showUndecided(
  { ctx, caller }: CallContext,
  rows: readonly DraftRow[],
): Promise<SaidDraft[]> {
  const drafts = await showDrafts(ctx.store, caller.ownerId, rows);
  return drafts.map((draft) =>
    draft.state === "open" || draft.state === "waiting" ? withPassedTime(ctx, draft) : draft,
  );
}

function withPassedTime({ clock, settings }: AppContext, draft: SaidDraft): SaidDraft {
  const now = clock.now();
  const tell = (at: number): string => {
    const passed = `Its time, ${formatTime(at, settings.timezone)}, has passed`;
    return at < now - NOW_WINDOW_MS
      ? `${passed}, so it cannot be approved without another time.`
      : `${passed}: approved now, it goes out at once.`;
  };
  const { repeat } = draft;
  const late = repeat === null ? [] : describeLateStart(repeat, { now, timezone: settings.timezone });
  const checks = draft.checks.map((check) => {
    const own = draft.targets.find(({ accountId }) => accountId === check.accountId)?.scheduledAt ?? null;
    const at = Date.parse(own ?? draft.scheduledAt ?? "");
    const told = at < now ? [tell(at)] : check.error === null ? late : [];
    return { ...check, warnings: [...check.warnings, ...told] };
  });
  return { ...draft, checks };
}

/** Of a series whose first time has passed: when it begins, or that it has no time left. */
function describeLateStart(repeat: Series, { now, timezone }: Now): string[] {
  const [first] = aheadOf(repeat, now);
  if (first === undefined) return [NO_TIME];
  const late = lateStartOf(repeat, now);
  if (late === null) return [];
  const missed = atWallTime({ date: late.missed, time: repeat.time }, repeat.timezone);
  return [
    `Its first time, ${formatTime(missed, timezone)}, has passed: approved now, the series begins on ${formatTime(first.at, timezone)}.`,
  ];
}

/** The caller's drafts that are open or waiting, for one of these channels. Null: for any. */
export function listUndecided(call: CallContext, accounts: readonly string[] | null): Promise<DraftRow[]> {
  return listDraftsOf(call, ["open", "waiting"], accounts);
}

/** The same of drafts in these states. */
export async function listDraftsOf(
  { ctx, caller }: CallContext,
  states: readonly DraftState[],
  accounts: readonly string[] | null,
): Promise<DraftRow[]> {
  const wanted = accounts === null ? null : await meantAccountIds(ctx, caller, accounts);
  const filter = { ownerId: caller.ownerId, states };
  const rows = await listDraftRows(ctx.store, filter, { before: null, limit: MAX_UNDECIDED });
  const isWanted = (row: DraftRow): boolean =>
    wanted === null || contentOf(row).targets.some(({ accountId }) => wanted.includes(accountId));
  return rows.filter((row) => canReachDraft(caller, row) && isWanted(row));
}

/** More than people keep open. */
const MAX_UNDECIDED = 2_000;

interface DraftFilter {
  /** What a cursor belongs to. */
  readonly key: unknown;
  fits(row: DraftRow): boolean;
}

async function readFilter(ctx: AppContext, caller: Caller, args: ListDraftsArgs): Promise<DraftFilter> {
  const { state, label, search } = args;
  const [accountId = null] =
    args.accountId === undefined ? [] : await meantAccountIds(ctx, caller, [args.accountId]);
  const terms = search === undefined ? [] : parseSearch(search);
  return {
    key: ["drafts", state?.toSorted() ?? null, label ?? null, accountId, terms.map(({ text }) => text)],
    fits: (row) => {
      const { labels, targets } = contentOf(row);
      return (
        (label === undefined || labels.includes(label)) &&
        (accountId === null || targets.some((target) => target.accountId === accountId)) &&
        hasWords(row, terms)
      );
    },
  };
}

function hasWords(row: DraftRow, terms: readonly SearchTerm[]): boolean {
  if (terms.length === 0) return true;
  const { title, caption, targets, labels, note, metadata, repeat } = contentOf(row);
  const own = targets.flatMap((target) => [target.caption, target.metadata?.["title"]]);
  const texts = [
    title,
    caption,
    metadata?.["title"],
    metadata?.["description"],
    ...(repeat?.texts ?? []),
    ...own,
    ...labels,
    note,
  ];
  return hasTerms(texts.filter((text) => typeof text === "string").join("\n"), terms);
}

const POSITION = /^(?<at>\d{1,15}) (?<id>\w+)$/;

function readPosition(cursor: string, key: unknown): Position {
  const { at, id } = POSITION.exec(decodeCursor(cursor, key))?.groups ?? {};
  if (at === undefined || id === undefined) throw unknownCursor();
  return { at: Number(at), id };
}
