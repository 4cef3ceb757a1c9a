import { setImmediate } from "node:timers/promises";
import { AppError } from "../../domain/errors.ts";
import type { ImportArgs, RowError, RowWarning } from "../../domain/posts/post-import.ts";
import type { Said } from "../../domain/sentences.ts";
import { isTimezone, MINUTE } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { canonicalJson } from "../../access/idempotency.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import { preparePost, type PreparedPost } from "../prepare.ts";
import type { PostRow } from "../../store/schema/tables.ts";
import { listDraftTexts } from "../../store/queries/drafts.ts";
import { isSoonAgain, sameTextOf } from "../warnings.ts";
import {
  findImported,
  findMade,
  listWaitingTwins,
  type MadePost,
  type TwinRow,
} from "../../store/queries/imported-rows.ts";
import { type Column, FIELDS } from "./columns.ts";
import { lookingOnce } from "./head-once.ts";
import { toOwnTable } from "./other-services.ts";
import { type ReadRow, readSource, rowReader } from "./read-rows.ts";
import { readTable } from "./read-table.ts";
import { describeExisting, describeUntimed } from "./rows-as-drafts.ts";

/** Rows that are checked at a time: those of one wait for a database, or for addresses of media. */
const LANES = 16;

/** So many rows are checked before posts that are due, and other calls, have their turn. */
const BREATH = 20;

/** A good row. `id`: the post that was made of it before, or that says the same; then it is not made again. */
export interface GoodRow extends ReadRow {
  readonly id: string | null;
  readonly prepared: PreparedPost | null;
  /** That post as it is. */
  readonly post?: MadePost | undefined;
}

/** How the rows of a table would be made. */
export interface Plan {
  readonly source: string | null;
  readonly rows: number;
  readonly good: readonly GoodRow[];
  /** Rows that stand in the table once more. */
  readonly repeated: number;
  readonly errors: readonly RowError[];
  readonly warnings: readonly RowWarning[];
}

/** Checks the rows of a table. Only reads. Throws `invalid` for a table that cannot be read. */
export async function planImport(call: CallContext, args: ImportArgs): Promise<Plan> {
  const { ctx, caller } = call;
  requireTimezone(args);
  const { columns, rows, service, warnings } = toOwnTable(readTable(await readSource(call, args)), args.as);
  if (!columns.some(({ field }) => field === "accountId") && args.accountId === undefined)
    throw new AppError(
      "invalid",
      "csv: has no column accountId (or channel), which says where each post goes. Add it, or give accountId for all rows.",
    );
  // A channel that is not there is no fault of the rows.
  if (args.accountId !== undefined) await findAccount(ctx, caller, args.accountId);
  const looking = { ...call, ctx: { ...ctx, outbound: lookingOnce(ctx.outbound) } };
  const errors: RowError[] = [];
  const tell = (row: { readonly line: number }, error: unknown): null => {
    errors.push(toRowError(row.line, error, columns));
    return null;
  };
  const readOne = rowReader(looking, args);
  const read = await each(call, rows, (row) =>
    readOne(row, columns).catch((error: unknown) => tell(row, error)),
  );
  const readable = read.filter((row) => row !== null);
  const firsts = new Map(readable.toReversed().map((row) => [row.mark, row]));
  const unique = [...firsts.values()].toSorted((a, b) => a.line - b.line);
  const good = await checkRows(looking, unique, tell);
  return {
    source: service,
    rows: rows.length,
    good,
    repeated: readable.length - unique.length,
    errors: errors.toSorted((a, b) => a.line - b.line),
    warnings: [
      ...(await describeExisting(call, args, good)),
      ...describeUntimed(good.filter(({ id }) => id === null)),
      ...warnings.map((warning) => ({ line: null, rows: rows.length, warning })),
      ...describeRepeated(readable, unique),
      ...describeNeighbours(good),
      ...describeSame(good),
      ...gather(good),
    ],
  };
}

/** `tell`: what is wrong with a row. */
async function checkRows(
  call: CallContext,
  rows: readonly ReadRow[],
  tell: (row: ReadRow, error: unknown) => null,
): Promise<GoodRow[]> {
  const { ctx, caller } = call;
  const marks = rows.map(({ mark }) => mark);
  const known = await findImported(ctx.store, caller.ownerId, marks);
  const drafts = await listDraftTexts(ctx.store, caller.ownerId);
  const checked = await each(call, rows, async (row): Promise<GoodRow | null> => {
    const id = known.get(row.mark) ?? null;
    if (id !== null) return { ...row, id, prepared: null };
    return preparePost(call, row.body, { account: row.account, readsLinks: false, drafts }).then(
      (prepared) => ({ ...row, id: null, prepared }),
      (error: unknown) => tell(row, error),
    );
  });
  const good = checked.filter((row) => row !== null);
  const all = await withTwins(call, good);
  const ids = all.flatMap(({ id }) => id ?? []);
  const posts = new Map((await findMade(ctx.store, caller.ownerId, ids)).map((post) => [post.id, post]));
  return all.map((row) => ({ ...row, post: posts.get(row.id ?? "") }));
}

function requireTimezone({ timezone }: ImportArgs): void {
  if (timezone !== undefined && !isTimezone(timezone))
    throw new AppError(
      "invalid",
      `timezone: ${quote(timezone)} is not a time zone. Give one such as Europe/Berlin.`,
    );
}

/** In their order, some at a time. */
export async function each<T, R>(
  { signal }: CallContext,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = Array.from({ length: items.length });
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [at, item] of queue) {
      signal.throwIfAborted();
      results[at] = await work(item);
      // SQLite answers at once, so that nothing else would have its turn.
      if (at % BREATH === 0) await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

/** Those that say the same as a waiting post are not made, as if they had been imported. */
async function withTwins({ ctx, caller }: CallContext, rows: readonly GoodRow[]): Promise<GoodRow[]> {
  const prepared = rows.flatMap(({ prepared }) => prepared?.row ?? []);
  const twins = await listWaitingTwins(ctx.store, caller.ownerId, prepared);
  const byContent = new Map(twins.map((twin) => [contentOf(twin), twin.id]));
  return rows.map((row) => {
    const twin = row.prepared === null ? undefined : byContent.get(contentOf(row.prepared.row));
    return twin === undefined ? row : { ...row, id: twin, prepared: null };
  });
}

function contentOf(row: TwinRow): string {
  const metadata: unknown = row.metadata === null ? null : JSON.parse(row.metadata);
  return canonicalJson([row.account_id, row.content_hash, metadata, row.lead_minutes]);
}

/** How a sentence begins that is about a field which the platform does not have. */
const UNKNOWN = /^"([^"]+)"/;

/** Only what the sender can mend becomes an error of a row; a bug stays a bug. */
function toRowError(line: number, error: unknown, columns: readonly Column[]): RowError {
  if (!(error instanceof AppError) || error.kind === "unavailable") throw error;
  const [first] = error.sentences;
  const named = /^[\w.-]+/.exec(first?.field ?? "")?.[0] ?? "";
  const unknown = named === "metadata" ? UNKNOWN.exec(first?.what ?? "")?.[1] : undefined;
  const field = unknown === undefined ? named : `metadata.${unknown}`;
  const column = columns.find((one) => one.field === field)?.title ?? (FIELDS.includes(field) ? field : null);
  return { line, column, error: error.said };
}

function describeRepeated(rows: readonly ReadRow[], unique: readonly ReadRow[]): RowWarning[] {
  const kept = new Map(unique.map((row) => [row.mark, row.line]));
  const repeated = rows.filter(({ mark, line }) => kept.get(mark) !== line);
  const [first] = repeated;
  if (first === undefined) return [];
  const warning = `Line ${first.line} is the same as line ${kept.get(first.mark)}, so one post is made of both.`;
  return [{ line: first.line, rows: repeated.length, warning }];
}

/** Rows with the channel and the minute of one before them. */
function describeNeighbours(rows: readonly GoodRow[]): RowWarning[] {
  const posts = rows.flatMap(({ line, prepared, scheduledAt }) =>
    prepared === null || scheduledAt === null ? [] : [{ line, row: prepared.row }],
  );
  const first = new Map<string, number>();
  const late: { readonly line: number; readonly before: number }[] = [];
  for (const { line, row } of posts) {
    const place = `${row.account_id} ${Math.floor(row.scheduled_at / MINUTE)}`;
    const before = first.get(place);
    if (before === undefined) first.set(place, line);
    else late.push({ line, before });
  }
  const [one] = late;
  if (one === undefined) return [];
  const warning = `Goes out on the same channel at the same minute as line ${one.before}. Give one of them another time if that was not meant.`;
  return [{ line: one.line, rows: late.length, warning }];
}

/** Rows that say on a channel what one before them says. */
function describeSame(rows: readonly GoodRow[]): RowWarning[] {
  const said = new Map<string, { readonly line: number; readonly row: PostRow }>();
  const again: { readonly line: number; readonly before: number }[] = [];
  for (const { line, prepared } of rows) {
    const text = prepared === null ? "" : sameTextOf(prepared.row);
    if (prepared === null || text === "") continue;
    const { row } = prepared;
    const key = `${row.account_id} ${text}`;
    const before = said.get(key);
    if (before !== undefined && isSoonAgain(before.row, row)) again.push({ line, before: before.line });
    said.set(key, { line, row });
  }
  const [one] = again;
  if (one === undefined) return [];
  const warning = `Says the same on the same channel as line ${one.before}, at another time. Leave one of them out if that was not meant.`;
  return [{ line: one.line, rows: again.length, warning }];
}

/** Each warning once, with the first row that it is about. */
function gather(rows: readonly GoodRow[]): RowWarning[] {
  const told = new Map<string, { line: number; rows: number; warning: Said }>();
  for (const { line, warnings, prepared } of rows) {
    for (const warning of [...warnings, ...(prepared?.warnings ?? [])]) {
      const known = told.get(String(warning)) ?? { line, rows: 0, warning };
      told.set(String(warning), { ...known, rows: known.rows + 1 });
    }
  }
  return [...told.values()];
}
