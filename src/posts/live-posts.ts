import { deadline, MINUTE } from "../domain/time.ts";
import { assertUsable } from "../domain/accounts/account.ts";
import { channelInFull } from "../domain/accounts/channel-names.ts";
import { withFullStop } from "../domain/text/plain-text.ts";
import type { PostEdit } from "../domain/posts/post-body.ts";
import { AppError, nothingToChange } from "../domain/errors.ts";
import type { Said } from "../domain/sentences.ts";
import type { SaidPost } from "../domain/posts/post.ts";
import { conflictSentence, TRANSITIONS } from "../domain/posts/post-states.ts";
import { MediaUnavailable } from "../ports/media.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { PublishIo } from "../ports/publish-io.ts";
import type { PostRow, Tables } from "../store/schema/tables.ts";
import { noteWarnings, readWarnings, toPost } from "../store/queries/posts.ts";
import type { AppContext, CallContext } from "../context.ts";
import { canonicalJson } from "../access/idempotency.ts";
import { checkMediaAddress, resolveMediaUrl, checkAddresses } from "../files/media-places.ts";
import { findAccount } from "../channels/accounts/accounts.ts";
import { capabilitiesFor } from "../channels/platform-io/connect-io.ts";
import { fitEdited } from "../channels/platform-io/fit-answers.ts";
import { createPlatformIo } from "../channels/connecting/account-io.ts";
import { type CheckedForm, contentOf, type PostContent } from "./post-form.ts";
import { findOwnPost, movePost, readStanding } from "./posts.ts";
import { prepare, prepareForm } from "./prepare.ts";
import { NOTHING_CHANGED } from "./update-post.ts";
import { assertPlace } from "../publishing/take-down.ts";
import { readStepResults, toPlatformPost } from "../publishing/publish-io.ts";
import { findPlatform } from "../channels/platform-io/set-up.ts";

const CHANGE_TIMEOUT_MS = MINUTE;

/**
 * Checks an edit without making it. Throws `invalid`, `not_found`, and `conflict` for a post that is not live
 * and for fields that the platform does not let one change, with the list of those it does.
 */
export async function prepareEdit({ ctx, caller, leftEmpty }: CallContext, input: PostEdit) {
  if (input.caption === undefined && input.metadata === undefined) {
    throw nothingToChange("Give caption, metadata, or both.", leftEmpty);
  }
  checkAddresses(ctx, { metadata: input.metadata });
  const row = await findOwnPost(ctx, caller, input.id);
  const account = await findAccount(ctx, caller, row.account_id);
  const { caption, metadata } = input;
  const given = { caption, metadata };
  const form = await prepareForm(ctx, account, { given, before: row, isLive: true });
  if (row.status !== "published")
    throw new AppError("conflict", conflictSentence("edit_live", await readStanding(ctx, row)));
  // Where an answer was lost it may not be as it is kept here, so that the same is a change.
  const isLost = lostChanges(row).length > 0;
  const changed = isLost
    ? [...(caption === undefined ? [] : ["caption"]), ...Object.keys(metadata ?? {})]
    : changedFields(contentOf(row), form.content);
  assertEditable(form, changed);
  assertPlace(ctx, row);
  assertUsable(account);
  return { row, form, changed };
}

/** Changes a live post on its platform, and says where nothing changes. Throws as `prepareEdit` does. */
export async function editPublishedPost(
  call: CallContext,
  input: PostEdit,
): Promise<{ post: SaidPost; warnings?: Said[] }> {
  const { ctx } = call;
  const { row, form, changed } = await prepareEdit(call, input);
  const { platform, account } = form;
  const checked = await prepare(call, form);
  if (changed.length === 0) return { post: toPost(row), warnings: [NOTHING_CHANGED] };
  const edited = { ...row, caption: checked.row.caption, metadata: checked.row.metadata };
  const ids = await onPlatform(ctx, { platform, account, row }, async (io) => {
    const place = await platform.edit?.(toPlatformPost(platform, edited), changed, io);
    return fitEdited(platform.title, place ?? {});
  });
  return movePost(call, row, "edit_live", {
    ...SEEN,
    warnings: otherWarnings(row),
    caption: edited.caption,
    metadata: edited.metadata,
    file_ids: checked.row.file_ids,
    ...(ids.platformUrl === undefined ? {} : { platform_url: ids.platformUrl }),
    ...(ids.platformPostId === undefined ? {} : { platform_post_id: ids.platformPostId }),
    files: checked.files,
  });
}

/** Sets or replaces the thumbnail of a post that is on its platform. */
export async function setThumbnail(
  call: CallContext,
  input: { readonly id: string; readonly thumbnailUrl: string },
): Promise<{ post: SaidPost }> {
  const { ctx, caller } = call;
  checkMediaAddress(ctx, "thumbnailUrl", input.thumbnailUrl);
  const row = await findOwnPost(ctx, caller, input.id);
  const place = { field: "thumbnailUrl", text: input.thumbnailUrl };
  const { url: thumbnailUrl } = await resolveMediaUrl(ctx, caller, place);
  if (!TRANSITIONS.set_thumbnail.from.some((status) => status === row.status)) {
    throw new AppError("conflict", conflictSentence("set_thumbnail", await readStanding(ctx, row)));
  }
  const platform = findPlatform(ctx, row.provider);
  const { setThumbnail: set } = platform;
  const account = await findAccount(ctx, caller, row.account_id);
  const { thumbnail } = capabilitiesFor(ctx, account, toPlatformPost(platform, row));
  if (set === undefined || !thumbnail.replaceAfterPublish) {
    throw new AppError(
      "conflict",
      `${platform.title} does not take a new thumbnail for a post that is already there.`,
    );
  }
  assertPlace(ctx, row);
  assertUsable(account);
  const given = { metadata: { thumbnailUrl } };
  const checked = await prepare(call, await prepareForm(ctx, account, { given, before: row, isLive: true }));
  const post = toPlatformPost(platform, { ...row, metadata: checked.row.metadata });
  await onPlatform(ctx, { platform, account, row }, (io) => set(post, thumbnailUrl, io));
  const { metadata: stored, file_ids } = checked.row;
  const seen = { ...SEEN, warnings: otherWarnings(row) };
  return movePost(call, row, "set_thumbnail", { ...seen, metadata: stored, file_ids, files: checked.files });
}

/** What was noted of a deletion whose answer was lost is over: the post took a change. */
const SEEN = { error: null } as const;

type Editable = Pick<PostContent, "caption" | "metadata">;

function changedFields(before: Editable, after: Editable): string[] {
  const keys = new Set([...Object.keys(before.metadata ?? {}), ...Object.keys(after.metadata ?? {})]);
  const isSame = (key: string): boolean =>
    canonicalJson(before.metadata?.[key] ?? null) === canonicalJson(after.metadata?.[key] ?? null);
  return [
    ...(before.caption === after.caption ? [] : ["caption"]),
    ...[...keys].filter((key) => !isSame(key)),
  ];
}

function assertEditable({ platform, capabilities }: CheckedForm, changed: readonly string[]): void {
  const { fields } = capabilities.editPublished;
  const fixed = changed.filter((field) => !fields.includes(field));
  if (fixed.length === 0 && platform.edit !== undefined) return;
  if (fields.length === 0 || platform.edit === undefined) {
    throw new AppError("conflict", `${platform.title} does not allow changes to a live post.`);
  }
  throw new AppError(
    "conflict",
    `${fixed.join(", ")}: cannot be changed on a live post of ${platform.title}. What can be: ${fields.join(", ")}.`,
  );
}

interface ChangedAt {
  readonly platform: AnyPlatform;
  readonly account: Tables["accounts"];
  readonly row: PostRow;
}

const LOST = "It is not known whether it was changed:";

/** Among what is noted of a live post, the changes whose answer was lost. */
function lostChanges(row: PostRow): string[] {
  return (readWarnings(row).warnings ?? []).filter((one) => one.startsWith(LOST));
}

/** As its column keeps them: what was lost is over once the platform took a change. */
function otherWarnings(row: PostRow): string | null {
  const others = (readWarnings(row).warnings ?? []).filter((one) => !one.startsWith(LOST));
  return others.length === 0 ? null : JSON.stringify(others);
}

function isNotDone(error: unknown): error is PlatformFault {
  return error instanceof PlatformFault && error.isNotDone;
}

/** Where the answer was lost the platform may have changed it. */
function describeNotChanged({ platform, account, row }: ChangedAt, error: unknown): string {
  const { title } = platform;
  if (isNotDone(error)) return `${title} did not take the change: ${error.message}`;
  const why = error instanceof PlatformFault ? error.message : `${title} did not answer in time.`;
  const where = row.platform_url ?? account.profile_url ?? channelInFull(account);
  return `${LOST} ${withFullStop(why)} Look at ${where}. Where it is as it was, make the change again.`;
}

/** Runs a change that a caller waits for; it needs no ledger, as repeating it leads to the same post. */
async function onPlatform<T>(
  ctx: AppContext,
  at: ChangedAt,
  work: (io: PublishIo) => Promise<T>,
): Promise<T> {
  const signal = deadline(CHANGE_TIMEOUT_MS);
  try {
    const platformIo = await createPlatformIo(ctx, at.account, signal);
    return await work({
      ...platformIo,
      ...(await readStepResults(ctx, at.row)),
      media: ctx.media.forPost({ ownerId: at.row.owner_id, postId: at.row.id }, signal),
      isDue: true,
      once: async (_name, make) => make(),
      effect: (spec) =>
        spec.send({
          key: ctx.cipher.sign("effect key", `${at.row.id}|${spec.step}`).slice(0, 32),
          handle: null,
          saveHandle: async () => {},
          signal,
          timesSent: 0,
        }),
      live: async () => {},
      followUp: (_name, work) => work(),
    });
  } catch (error) {
    if (error instanceof MediaUnavailable) {
      throw new AppError("unavailable", `${error.message} Nothing was changed. Try again once it answers.`, {
        cause: error,
      });
    }
    const isLate = error instanceof Error && error.name === "TimeoutError";
    if (!isLate && !(error instanceof PlatformFault)) throw error;
    ctx.log.warn({ postId: at.row.id, err: error }, "a change of a live post did not succeed");
    const told = describeNotChanged(at, error);
    if (!isNotDone(error)) await noteLost(ctx, at.row, told);
    throw new AppError("conflict", told, { cause: error });
  } finally {
    await ctx.media.release(at.row.id);
  }
}

/** It is told until the platform takes a change. */
async function noteLost({ store }: AppContext, row: PostRow, told: string): Promise<void> {
  const others = JSON.parse(otherWarnings(row) ?? "[]") as string[];
  await store.write((tx) => noteWarnings(tx, row, [...others, told]));
}
