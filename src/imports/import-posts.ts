import { meantMoment } from "../domain/arguments/meant-times.ts";
import { hash } from "node:crypto";
import type { Said } from "../domain/sentences.ts";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { AppError } from "../domain/errors.ts";
import type { PostBody } from "../domain/posts/post-body.ts";
import {
  type ImportArgs,
  type ImportedRow,
  MAX_SHOWN_ROWS,
  type RowError,
  type RowWarning,
  type SaidImportAnswer,
} from "../domain/posts/post-import.ts";
import { plural } from "../domain/plain-text.ts";
import { isTimezone, MINUTE, parseMoment, quote, toIso, warningsOf } from "../domain/time.ts";
import { canonicalJson, commitOnce } from "../access/idempotency.ts";
import { findAccount } from "../accounts/accounts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { getFile, OWN_SCHEME } from "../files/files.ts";
import { requireFiles } from "../files/media-places.ts";
import { noteDraft } from "../drafts/draft-events.ts";
import { draftOfPost } from "../drafts/post-drafts.ts";
import { type DraftRow, insertDraft } from "../store/queries/drafts.ts";
import { placeTogether, preparePost, type PreparedPost } from "../posts/schedule-post.ts";
import {
  findImported,
  listWaitingTwins,
  noteImported,
  type TwinRow,
} from "../store/queries/imported-rows.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { insertPosts } from "../store/queries/posts.ts";
import { isUntimed, tellExisting, tellMade, tellUntimed } from "./rows-as-drafts.ts";
import { type Column, FIELDS, readBody, type RowBody } from "./columns.ts";
import { lookingOnce } from "./one-look.ts";
import { toOwnTable } from "./other-services.ts";
import { decodeTable, MAX_TABLE_BYTES, readTable, type TableRow } from "./read-table.ts";

/** Rows that are checked at a time: those of one wait for a database, or for addresses of media. */
const LANES = 16;

/** So many rows are checked before posts that are due, and other calls, have their turn. */
const BREATH = 20;

/** How many warnings an answer holds. */
const MAX_WARNINGS = 100;

/** A row that can be read. */
interface ReadRow {
  readonly line: number;
  readonly body: PostBody;
  readonly account: AccountRow;
  /** Null: the next slot, or of a draft no time. */
  readonly scheduledAt: number | null;
  /** What tells it from other rows: channel, time and content. */
  readonly mark: string;
  readonly warnings: readonly Said[];
}

/** A good row. `id`: the post that was made of it before, or that says the same; then it is not made again. */
interface GoodRow extends ReadRow {
  readonly id: string | null;
  readonly prepared: PreparedPost | null;
}

interface Plan {
  readonly source: string | null;
  readonly rows: number;
  readonly good: readonly GoodRow[];
  /** Rows that stand in the table once more. */
  readonly repeated: number;
  readonly errors: readonly RowError[];
  readonly warnings: readonly RowWarning[];
}

/**
 * Schedules the posts of a table, all or none, each once: a row that was imported before is not made again,
 * whatever became of its post. A dry run checks and makes none. Throws `invalid` for a table that cannot be read;
 * what is wrong with rows is told in the answer.
 */
export async function importPosts(call: CallContext, args: ImportArgs): Promise<SaidImportAnswer> {
  const plan = await planImport(call, args);
  if (args.dryRun || plan.errors.length > 0) return show(plan, { dryRun: args.dryRun, made: null });
  const drafts = args.as === "drafts" ? await draftsOf(call, plan.good) : new Map<string, DraftRow>();
  const answer = await commitOnce(call, async (tx) => {
    const { ownerId } = call.caller;
    const files = plan.good.flatMap(({ prepared }) => prepared?.files ?? []);
    await requireFiles(tx, call.caller, files);
    const noted = await noteImported(
      tx,
      ownerId,
      plan.good.map(({ mark, id, prepared }) => ({
        mark,
        post_id: id ?? drafts.get(mark)?.id ?? prepared?.row.id ?? "",
      })),
    );
    const fresh = plan.good.flatMap(({ mark, prepared }) =>
      prepared === null || !noted.has(mark) ? [] : [{ mark, prepared }],
    );
    for (const { mark } of fresh) {
      const draft = drafts.get(mark);
      if (draft === undefined) continue;
      await insertDraft(tx, draft);
      await noteDraft(tx, "draft.waiting", draft, { at: draft.created_at });
    }
    if (args.as === "posts")
      await insertPosts(
        tx,
        await placeTogether(
          call,
          tx,
          fresh.map(({ prepared }) => prepared),
        ),
      );
    const made = new Set(fresh.map(({ mark }) => mark));
    // Another import of the same rows may have been first.
    const marks = plan.good.map(({ mark }) => mark);
    const others = await findImported(tx, ownerId, marks);
    const good = plan.good.map((row) => ({ ...row, id: others.get(row.mark) ?? row.id }));
    const warnings = [...tellMade(args, good, made), ...plan.warnings];
    return show({ ...plan, good, warnings }, { dryRun: false, made });
  });
  call.ctx.wakePublisher();
  return answer;
}

/** By the marks of their rows. */
async function draftsOf(call: CallContext, rows: readonly GoodRow[]): Promise<ReadonlyMap<string, DraftRow>> {
  const drafts = await each(call, rows, async ({ mark, body, prepared }) => {
    if (prepared === null) return null;
    return [mark, await draftOfPost(call, prepared, { isUntimed: isUntimed(body) })] as const;
  });
  return new Map(drafts.filter((draft) => draft !== null));
}

/** How the rows would be made. Only reads. */
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
  const known = await findImported(
    ctx.store,
    caller.ownerId,
    unique.map(({ mark }) => mark),
  );
  const checked = await each(call, unique, async (row): Promise<GoodRow | null> => {
    const id = known.get(row.mark) ?? null;
    if (id !== null) return { ...row, id, prepared: null };
    return preparePost(looking, row.body, { account: row.account, readsLinks: false }).then(
      (prepared) => ({ ...row, id: null, prepared }),
      (error: unknown) => tell(row, error),
    );
  });
  const good = await withTwins(
    call,
    checked.filter((row) => row !== null),
  );
  return {
    source: service,
    rows: rows.length,
    good,
    repeated: readable.length - unique.length,
    errors: errors.toSorted((a, b) => a.line - b.line),
    warnings: [
      ...(await tellExisting(call, args, good)),
      ...tellUntimed(good.filter(({ id }) => id === null)),
      ...warnings.map((warning) => ({ line: null, rows: rows.length, warning })),
      ...tellRepeated(readable, unique),
      ...tellNeighbours(good),
      ...gather(good),
    ],
  };
}

function requireTimezone({ timezone }: ImportArgs): void {
  if (timezone !== undefined && !isTimezone(timezone))
    throw new AppError(
      "invalid",
      `timezone: ${quote(timezone)} is not a time zone. Give one such as Europe/Berlin.`,
    );
}

async function readSource(call: CallContext, { csv, fileId }: ImportArgs): Promise<string> {
  if (fileId !== undefined) return readFile(call, fileId, csv);
  if (csv !== undefined && csv.trim() !== "") return csv;
  throw new AppError("invalid", "csv: is missing. Give the table, with a first row that names its columns.");
}

/** A table that was uploaded. */
async function readFile(call: CallContext, fileId: string, csv: string | undefined): Promise<string> {
  if (csv !== undefined && csv !== "")
    throw new AppError("invalid", "csv: cannot be given together with fileId. Give one.");
  const { file } = await getFile(call, { id: fileId }, "fileId");
  if (file.mimeType !== "text/csv")
    throw new AppError("invalid", `fileId: ${file.id} is ${file.mimeType}, not a table. Upload a CSV file.`);
  if (file.sizeBytes > MAX_TABLE_BYTES)
    throw new AppError(
      "invalid",
      `fileId: the table is larger than 16 MiB. Divide it, and import the parts.`,
    );
  return decodeTable(await buffer(call.ctx.files.read(file.url.slice(OWN_SCHEME.length))));
}

/** In their order, some at a time. */
async function each<T, R>(
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

/** Reads rows, and looks up each channel once. */
function rowReader(
  { ctx, caller, tellsZone }: CallContext,
  { timezone, accountId, as }: ImportArgs,
): (row: TableRow, columns: readonly Column[]) => Promise<ReadRow> {
  const zone = timezone ?? ctx.settings.timezone;
  const accounts = new Map<string, ReturnType<typeof findAccount>>();
  const find = (wanted: string): ReturnType<typeof findAccount> => {
    const found = accounts.get(wanted) ?? findAccount(ctx, caller, wanted);
    accounts.set(wanted, found);
    return found;
  };
  return async (row, columns) => {
    const read = readBody(row, columns, accountId === undefined ? {} : { accountId }, as);
    const account = await find(read.body.accountId);
    const given = withLink(ctx, account, read);
    const { line } = row;
    if (given.scheduledAt === undefined) {
      const body = { ...given, accountId: account.id };
      return { line, body, account, scheduledAt: null, mark: markOf(body), warnings: [] };
    }
    const meant = meantMoment({ now: ctx.clock.now(), timezone: zone });
    const parsed = parseMoment("scheduledAt", given.scheduledAt, zone, meant);
    const body = { ...given, accountId: account.id, scheduledAt: toIso(parsed.ms) };
    // Who names a zone knows how their times are read.
    const warnings = warningsOf({ tellsZone: tellsZone && timezone === undefined }, parsed);
    return { line, body, account, scheduledAt: parsed.ms, mark: markOf(body), warnings };
  };
}

/** In the platform's field for a link, where it has one and the post no media; else at the end of the text. */
function withLink(ctx: AppContext, { provider }: AccountRow, { body, link }: RowBody): PostBody {
  if (link === null || link === "") return body;
  const hasField = "link" in (ctx.platforms.get(provider)?.metadata.shape ?? {});
  if (hasField && body.mediaUrl === undefined) return { ...body, metadata: { link, ...body.metadata } };
  return { ...body, caption: body.caption === undefined ? link : `${body.caption}\n${link}` };
}

function markOf(body: PostBody): string {
  return hash("sha256", canonicalJson(body));
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

function tellRepeated(rows: readonly ReadRow[], unique: readonly ReadRow[]): RowWarning[] {
  const kept = new Map(unique.map((row) => [row.mark, row.line]));
  const repeated = rows.filter(({ mark, line }) => kept.get(mark) !== line);
  const [first] = repeated;
  if (first === undefined) return [];
  const warning = `Line ${first.line} is the same as line ${kept.get(first.mark)}, so one post is made of both.`;
  return [{ line: first.line, rows: repeated.length, warning }];
}

/** Rows with the channel and the minute of one before them. */
function tellNeighbours(rows: readonly GoodRow[]): RowWarning[] {
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

/** `made`: the marks of the rows that posts were made of. Null: none were. */
function show(
  plan: Plan,
  { dryRun, made }: { readonly dryRun: boolean; readonly made: ReadonlySet<string> | null },
): SaidImportAnswer {
  const isNew = ({ mark, id }: GoodRow): boolean => (made === null ? id === null : made.has(mark));
  const fresh = plan.good.filter(isNew).length;
  const shown = plan.good.slice(0, MAX_SHOWN_ROWS).map((row): ImportedRow => {
    const { line, id, body, prepared } = row;
    return {
      line,
      id,
      isNew: isNew(row),
      accountId: body.accountId,
      scheduledAt: toIso(prepared?.row.scheduled_at ?? row.scheduledAt ?? 0),
      caption: body.caption ?? null,
      mediaUrl: body.mediaUrl ?? "",
    };
  });
  return {
    dryRun,
    imported: made?.size ?? 0,
    counts: {
      rows: plan.rows,
      new: fresh,
      existing: plan.good.length - fresh + plan.repeated,
      bad: plan.errors.length,
    },
    source: plan.source,
    rows: shown,
    errors: [...plan.errors],
    warnings: [...(made === null && !dryRun ? [tellNone(plan)] : []), ...plan.warnings]
      .slice(0, MAX_WARNINGS)
      .map((warning) => ({ ...warning })),
  };
}

/** The counts alone do not say that bad rows keep all others back. */
function tellNone({ rows, errors }: Plan): RowWarning {
  const bad = `${errors.length} of ${plural(rows, "row")} ${errors.length === 1 ? "is" : "are"} bad`;
  const warning = `Nothing was imported: ${bad}, and a table is imported as a whole. Mend what errors tells, then import the table again.`;
  return { line: null, rows: errors.length, warning };
}
