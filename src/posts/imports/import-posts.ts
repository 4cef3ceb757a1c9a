import {
  type ImportArgs,
  type ImportedRow,
  MAX_SHOWN_ROWS,
  type RowWarning,
  type SaidImportAnswer,
} from "../../domain/posts/post-import.ts";
import { plural } from "../../domain/text/plain-text.ts";
import { toIsoOrNull } from "../../domain/time.ts";
import { commitOnce } from "../../access/idempotency.ts";
import type { Tx } from "../../store/engine/store.ts";
import type { CallContext } from "../../context.ts";
import { requireFiles } from "../../files/media-places.ts";
import { noteDraft } from "../drafts/draft-events.ts";
import { draftOfPost } from "../drafts/post-drafts.ts";
import { storePosts } from "../store-posts.ts";
import { type DraftRow, insertDraft } from "../../store/queries/drafts.ts";
import { findImported, noteImported } from "../../store/queries/imported-rows.ts";
import { each, type GoodRow, type Plan, planImport } from "./plan-import.ts";
import { isUntimed, describeMade } from "./rows-as-drafts.ts";

/** How many warnings an answer holds. */
const MAX_WARNINGS = 100;

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
    const made = await store(call, tx, { args, plan, drafts });
    // Another import of the same rows may have been first.
    const marks = plan.good.map(({ mark }) => mark);
    const others = await findImported(tx, call.caller.ownerId, marks);
    const good = plan.good.map((row) => ({ ...row, id: others.get(row.mark) ?? row.id }));
    const warnings = [...describeMade(args, good, made), ...plan.warnings];
    return show({ ...plan, good, warnings }, { dryRun: false, made });
  });
  call.ctx.wakePublisher();
  return answer;
}

/** The marks of the rows that something was made of. */
async function store(
  call: CallContext,
  tx: Tx,
  of: { readonly args: ImportArgs; readonly plan: Plan; readonly drafts: ReadonlyMap<string, DraftRow> },
): Promise<ReadonlySet<string>> {
  const rows = of.plan.good.map(({ mark, id, prepared }) => ({
    mark,
    post_id: id ?? of.drafts.get(mark)?.id ?? prepared?.row.id ?? "",
  }));
  const noted = await noteImported(tx, call.caller.ownerId, rows);
  const fresh = of.plan.good.filter(({ mark, prepared }) => prepared !== null && noted.has(mark));
  const posts = fresh.flatMap(({ prepared }) => prepared ?? []);
  if (of.args.as === "posts") await storePosts(call, tx, posts);
  else {
    const files = posts.flatMap(({ files }) => files);
    await requireFiles(tx, call.caller, files);
  }
  for (const draft of fresh.flatMap(({ mark }) => of.drafts.get(mark) ?? [])) {
    await insertDraft(tx, draft);
    await noteDraft(tx, "draft.waiting", draft, { at: draft.created_at });
  }
  return new Set(fresh.map(({ mark }) => mark));
}

/** By the marks of their rows. */
async function draftsOf(call: CallContext, rows: readonly GoodRow[]): Promise<ReadonlyMap<string, DraftRow>> {
  const drafts = await each(call, rows, async ({ mark, body, prepared }) => {
    if (prepared === null) return null;
    return [mark, await draftOfPost(call, prepared, { isUntimed: isUntimed(body) })] as const;
  });
  return new Map(drafts.filter((draft) => draft !== null));
}

/** `made`: the marks of the rows that posts were made of. Null: none were. */
function show(
  plan: Plan,
  { dryRun, made }: { readonly dryRun: boolean; readonly made: ReadonlySet<string> | null },
): SaidImportAnswer {
  const isNew = ({ mark, id }: GoodRow): boolean => (made === null ? id === null : made.has(mark));
  const fresh = plan.good.filter(isNew).length;
  const shown = plan.good.slice(0, MAX_SHOWN_ROWS).map((row): ImportedRow => {
    const { line, id, body, prepared, post } = row;
    return {
      line,
      id,
      isNew: isNew(row),
      accountId: body.accountId,
      scheduledAt:
        isUntimed(body) && post === undefined
          ? null
          : toIsoOrNull(post?.scheduled_at ?? prepared?.row.scheduled_at ?? row.scheduledAt),
      caption: post === undefined ? (body.caption ?? null) : post.caption,
      mediaUrl: post?.media_url ?? body.mediaUrl ?? "",
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
    warnings: [...(made === null && !dryRun ? [describeNone(plan)] : []), ...plan.warnings]
      .slice(0, MAX_WARNINGS)
      .map((warning) => ({ ...warning })),
  };
}

/** The counts alone do not say that bad rows keep all others back. */
function describeNone({ rows, errors }: Plan): RowWarning {
  const bad = `${errors.length} of ${plural(rows, "row")} ${errors.length === 1 ? "is" : "are"} bad`;
  const warning = `Nothing was imported: ${bad}, and a table is imported as a whole. Mend what errors tells, then import the table again.`;
  return { line: null, rows: errors.length, warning };
}
