import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AppError } from "../domain/errors.ts";
import { AGES, type AgeColumn, unpackFigures } from "../domain/posts/results.ts";
import { toIso } from "../domain/time.ts";
import { assertAbsent, explainingWrite, syncFolder } from "../store/backup/durable.ts";
import { allFilesOf, listFileRows, type FileRow } from "../store/queries/files.ts";
import type { PostRow } from "../store/schema/tables.ts";
import { findPlans } from "../store/queries/plans.ts";
import { listPostsById, toPost } from "../store/queries/posts.ts";
import { findResults } from "../store/queries/results/reading.ts";
import { listAccounts } from "../channels/accounts/accounts.ts";
import { listKeys } from "../access/api-keys.ts";
import type { CallContext } from "../context.ts";
import { showFiles } from "../files/files.ts";
import { listDrafts } from "../posts/drafts/drafts.ts";
import { readHistory, showPlan } from "../posts/posts.ts";
import { listWebhooks } from "./webhooks/webhooks.ts";

/** One line of an export; `type` says what the rest is. */
export type ExportLine = {
  readonly type: "export" | "account" | "key" | "webhook" | "draft" | "file" | "post" | "end";
} & Readonly<Record<string, unknown>>;

/** Rises when the lines change in a way that a reader must know of. */
const FORMAT = 1;
const BATCH = 200;

/**
 * Everything of an owner, line by line, in batches that memory does not notice: accounts without their
 * tokens, keys and webhooks without their secrets, drafts, records of files (not the files), posts with their
 * history, what a plan says of them and what platforms told. Throws `not_found` for an owner that has nothing.
 */
export async function* exportOwner(call: CallContext, version: string): AsyncGenerator<ExportLine> {
  const { ctx } = call;
  const { ownerId } = call.caller;
  const { accounts } = await listAccounts(call);
  const { keys } = await listKeys(call);
  if (accounts.length + keys.length === 0) {
    throw new AppError(
      "not_found",
      `The owner ${JSON.stringify(ownerId.slice(0, 40))} has nothing here. Owners are those that "posthorn keys create --owner" was given.`,
    );
  }
  yield {
    type: "export",
    program: "posthorn",
    format: FORMAT,
    version,
    owner: ownerId,
    exportedAt: toIso(ctx.clock.now()),
  };
  for (const account of accounts) yield { type: "account", account };
  for (const key of keys) yield { type: "key", key };
  const { webhooks } = await listWebhooks(call, { limit: 1 });
  for (const webhook of webhooks) yield { type: "webhook", webhook };
  let drafts = 0;
  for (let cursor: string | undefined; ;) {
    const page = await listDrafts(call, { limit: BATCH, cursor });
    for (const draft of page.drafts) yield { type: "draft", draft };
    drafts += page.drafts.length;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  const filter = { reach: allFilesOf(ownerId), type: null };
  const files = yield* inBatches<FileRow>(
    (before) => listFileRows(ctx.store, filter, { before, limit: BATCH }),
    async (rows) =>
      (await showFiles(ctx, filter.reach, rows, false)).map((file): ExportLine => ({ type: "file", file })),
  );
  const posts = yield* inBatches<PostRow>(
    (after) => listPostsById(ctx.store, ownerId, { after: after ?? "", limit: BATCH }),
    async (rows) => {
      const ids = rows.map(({ id }) => id);
      const plans = await findPlans(ctx.store, ids);
      const results = await findResults(ctx.store, ids);
      return Promise.all(
        rows.map(async (row) => ({
          type: "post" as const,
          post: toPost(row),
          ...showPlan(plans.get(row.id)),
          ...showResults(results.get(row.id)),
          history: await readHistory(ctx, row),
        })),
      );
    },
  );
  // A reader that does not find this line knows that it was cut off.
  yield {
    type: "end",
    accounts: accounts.length,
    keys: keys.length,
    webhooks: webhooks.length,
    drafts,
    files,
    posts,
  };
}

/** The lines of all rows, read a batch at a time from the last one's id on. Returns how many. */
async function* inBatches<Row extends { readonly id: string }>(
  read: (last: string | null) => Promise<Row[]>,
  describe: (rows: readonly Row[]) => Promise<readonly ExportLine[]>,
): AsyncGenerator<ExportLine, number> {
  let last: string | null = null;
  for (let count = 0; ;) {
    const rows: Row[] = await read(last);
    yield* await describe(rows);
    count += rows.length;
    last = rows.at(-1)?.id ?? null;
    if (rows.length < BATCH) return count;
  }
}

/**
 * Writes lines, each with its end, to a file that is whole or not there; returns how many. Throws `conflict`
 * where it is there already.
 */
export async function writeExport(
  lines: AsyncIterable<string> | Iterable<string>,
  to: { readonly file: string; readonly isForced: boolean; readonly signal: AbortSignal },
): Promise<number> {
  const file = resolve(to.file);
  if (!to.isForced) await assertAbsent(file);
  const temporary = `${file}.${randomBytes(6).toString("hex")}.part`;
  try {
    const count = await explainingWrite(file, () => writeLines(lines, temporary, to.signal));
    if (!to.isForced) await assertAbsent(file);
    await rename(temporary, file);
    await syncFolder(dirname(file));
    return count;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeLines(
  lines: AsyncIterable<string> | Iterable<string>,
  file: string,
  signal: AbortSignal,
): Promise<number> {
  await using handle = await open(file, "wx", 0o600);
  let count = 0;
  for await (const line of lines) {
    signal.throwIfAborted();
    await handle.write(line);
    count += 1;
  }
  await handle.sync();
  return count;
}

/** By age. Left out where nothing was told. */
function showResults(told: Readonly<Record<AgeColumn, string | null>> | undefined): { results?: object } {
  const ages = AGES.flatMap(({ name, column }) => {
    const packed = told?.[column] ?? null;
    return packed === null ? [] : [[name, unpackFigures(packed)] as const];
  });
  return ages.length === 0 ? {} : { results: Object.fromEntries(ages) };
}
