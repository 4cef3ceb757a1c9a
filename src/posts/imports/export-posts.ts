import { createRequire } from "node:module";
import type { PostBody } from "../../domain/posts/post-body.ts";
import { toIso } from "../../domain/time.ts";
import { isAccountId, listAccounts, namesAmong } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import type { PostRow } from "../../store/schema/tables.ts";
import { findPlans, labelsOf, type PlanRow } from "../../store/queries/plans.ts";
import { countOverdue, listWaitingPosts, readMetadata } from "../../store/queries/posts.ts";
import { FIELDS, toCells } from "./columns.ts";

const BATCH = 500;

/** Without it, Excel where lists are separated by semicolons divides a text at its own, and runs what follows. */
const SEPARATOR_LINE = "sep=,\n";

/** They are there though no post has any. */
const ALWAYS = ["accountId", "scheduledAt", "caption", "mediaUrl"];

/** A table of the owner's posts that wait, earliest first, which imports again as the same posts. */
export interface PostTable {
  /** Its lines: the separator, the head, the posts. */
  readonly lines: readonly string[];
  readonly posts: number;
  /** How many of them have files of this service, which no other one has. */
  readonly withOwnFiles: number;
  /** How many posts are not in it: they are late, and an import takes none of the past. */
  readonly overdue: number;
}

export async function exportPosts(call: CallContext): Promise<PostTable> {
  const { ctx, caller, signal } = call;
  const now = ctx.clock.now();
  const channels = await channelCells(call);
  const rows: ReadonlyMap<string, string>[] = [];
  let withOwnFiles = 0;
  for (let after = { scheduledAt: now, id: "" }; ;) {
    signal.throwIfAborted();
    const batch = await listWaitingPosts(ctx.store, caller.ownerId, { after, limit: BATCH });
    const plans = await findPlans(
      ctx.store,
      batch.map(({ id }) => id),
    );
    const cells = batch.map((row) => {
      const body = toBody(row, plans.get(row.id));
      return toCells({ ...body, accountId: channels.get(body.accountId) ?? body.accountId });
    });
    rows.push(...cells);
    withOwnFiles += batch.filter(({ file_ids: fileIds }) => fileIds !== null).length;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) break;
    after = { scheduledAt: last.scheduled_at, id: last.id };
  }
  const used = new Set(rows.flatMap((row) => [...row.keys()]));
  const others = [...used].filter((name) => !FIELDS.includes(name)).toSorted();
  const columns = [...FIELDS.filter((name) => used.has(name) || ALWAYS.includes(name)), ...others];
  const table = [columns, ...rows.map((row) => columns.map((name) => row.get(name) ?? ""))];
  const lines = [SEPARATOR_LINE, ...table.map(toLine)];
  return {
    lines,
    posts: rows.length,
    withOwnFiles,
    overdue: await countOverdue(ctx.store, caller.ownerId, now),
  };
}

/**
 * Channels by what they are called, which another data folder knows, too. One that is disconnected is found by its id
 * alone.
 */
async function channelCells(call: CallContext): Promise<ReadonlyMap<string, string>> {
  const { accounts } = await listAccounts(call);
  const names = namesAmong(call.ctx, accounts);
  const cells = accounts.map(({ id, status }) => {
    const name = names.get(id) ?? id;
    return [id, status === "disconnected" || isAccountId(name) ? id : name] as const;
  });
  return new Map(cells);
}

/** What would be given to schedule it. */
function toBody(row: PostRow, plan: PlanRow | undefined): PostBody {
  const labels = plan === undefined ? [] : labelsOf(plan);
  const metadata = readMetadata(row);
  return {
    accountId: row.account_id,
    scheduledAt: toIso(row.scheduled_at),
    ...(row.caption === null ? {} : { caption: row.caption }),
    ...(row.media_url === "" ? {} : { mediaUrl: row.media_url }),
    ...(row.lead_minutes === null ? {} : { leadMinutes: row.lead_minutes }),
    ...(metadata === null ? {} : { metadata }),
    ...(labels.length === 0 ? {} : { labels }),
    ...(plan === undefined || plan.note === null ? {} : { note: plan.note }),
  };
}

const require = createRequire(import.meta.url);

function toLine(cells: readonly string[]): string {
  // Only a table needs it, and every start would load it.
  const { stringify }: typeof import("csv-stringify/sync") = require("csv-stringify/sync");
  // Whatever a program takes for the end of a cell or of a row.
  return stringify([cells], { quoted_match: /[;\t\r\n]/ });
}
