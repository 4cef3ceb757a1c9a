import pLimit from "p-limit";
import { AppError } from "../../domain/errors.ts";
import { DAY, HOUR } from "../../domain/time.ts";
import type { Tx } from "../../store/engine/store.ts";
import { type DraftRow, listDraftsNaming } from "../../store/queries/drafts.ts";
import {
  allFilesOf,
  deleteFileRow,
  findFileByKey,
  listUnnamedTakenIn,
  lockFiles,
} from "../../store/queries/files.ts";
import type { AppContext, CallContext, MaintenanceJob } from "../../context.ts";
import { importFile } from "../../files/file-uploads.ts";
import { fileNotFound, OWN_SCHEME } from "../../files/files.ts";
import { type Cards, cardsOf, readChecks, type StoredCheck } from "./checks.ts";
import type { DraftContent } from "./draft-content.ts";
import { partsOf, placesIn, replaceAll } from "./draft-places.ts";

/*
 * What a draft names at others' addresses can change there after a person has looked. So its media are taken into the
 * store before a person decides, and its posts name what is stored. What link pages told is kept with the checks.
 */

export interface TakenIn {
  readonly content: DraftContent;
  readonly cards: Cards;
  /** Media that are not in the store now, with why, in sentences. */
  readonly refused: readonly string[];
}

const AT_ONCE = 4;

/** The content and what its links' pages told, with all media in the store that can be fetched. */
export async function takeIn(
  call: CallContext,
  content: DraftContent,
  checks: readonly StoredCheck[],
): Promise<TakenIn> {
  const cards = cardsOf(checks);
  const places = (await partsOf(call, content)).flatMap(placesIn).filter(({ url }) => isElsewhere(url));
  const pictures = [...cards.values()].flatMap((card) => card?.picture ?? []).filter(isElsewhere);
  const urls = [...new Set([...places.map(({ url }) => url), ...pictures])];
  if (urls.length === 0) return { content, cards, refused: [] };
  const stored = new Map<string, string>();
  const reasons = new Map<string, string>();
  const turn = pLimit(AT_ONCE);
  await Promise.all(
    urls.map((url) =>
      turn(async () => {
        const got = await fetchInto(call, url);
        if ("reason" in got) reasons.set(url, got.reason);
        else stored.set(url, got.url);
      }),
    ),
  );
  return {
    content: await replaceAll(call, content, stored),
    cards: withPictures(cards, stored),
    refused: places.flatMap(({ field, url }) => (reasons.has(url) ? [`${field}: ${reasons.get(url)}`] : [])),
  };
}

function isElsewhere(url: string): boolean {
  return /^\s*https?:/i.test(url);
}

async function fetchInto(call: CallContext, url: string): Promise<{ url: string } | { reason: string }> {
  try {
    const { file } = await importFile({ ...call, idempotency: null }, { url, isTakenIn: true });
    return { url: file.url };
  } catch (error) {
    call.signal.throwIfAborted();
    if (!(error instanceof AppError) || error.kind === "conflict") throw error;
    return { reason: error.message.replace(/^url: /, "") };
  }
}

/** A card whose picture could not be fetched has none. */
function withPictures(cards: Cards, stored: ReadonlyMap<string, string>): Cards {
  return new Map(
    [...cards].map(([accountId, card]) => {
      const picture = card?.picture ?? null;
      if (card === null || picture === null || !isElsewhere(picture)) return [accountId, card] as const;
      return [accountId, { ...card, picture: stored.get(picture) ?? null }] as const;
    }),
  );
}

/** Whether taking in brought what no person can have seen before. */
export function isNews(
  row: Pick<DraftRow, "checks">,
  before: DraftContent,
  { content, cards }: TakenIn,
): boolean {
  const known = cardsOf(readChecks(row));
  const isNewCard = [...cards].some(
    ([accountId, card]) => card !== null && JSON.stringify(card) !== JSON.stringify(known.get(accountId)),
  );
  const media = ({ mediaUrl, metadata, targets }: DraftContent): string =>
    JSON.stringify([mediaUrl, metadata, targets]);
  return isNewCard || media(before) !== media(content);
}

/** Where a draft names files of the store. */
export async function filesNamed(
  call: CallContext,
  content: DraftContent,
  checks: readonly StoredCheck[],
): Promise<readonly { readonly field: string; readonly key: string }[]> {
  const pictures = [...cardsOf(checks).values()].map((card) => ({ field: "link", url: card?.picture ?? "" }));
  return [...(await partsOf(call, content)).flatMap(placesIn), ...pictures].flatMap(({ field, url }) =>
    url.startsWith(OWN_SCHEME) ? [{ field, key: url.slice(OWN_SCHEME.length) }] : [],
  );
}

/** Keeps files from being deleted until the transaction ends. Throws `not_found` where one is gone. */
export async function holdFiles(
  tx: Tx,
  ownerId: string,
  named: Awaited<ReturnType<typeof filesNamed>>,
): Promise<void> {
  const reach = allFilesOf(ownerId);
  const ids: string[] = [];
  for (const { key } of named) ids.push((await findFileByKey(tx, reach, key))?.id ?? "");
  await lockFiles(tx, ownerId, ids);
  for (const { field, key } of named)
    if ((await findFileByKey(tx, reach, key)) === null) throw fileNotFound(field, OWN_SCHEME + key);
}

export const TAKEN_IN_JOB: MaintenanceJob = { name: "taken in", everyMs: HOUR, run: forgetUnnamed };

/** Deletes what was taken in a day ago or more and no post and no draft that goes on names. */
export async function forgetUnnamed(ctx: AppContext, signal: AbortSignal): Promise<void> {
  const before = ctx.clock.now() - DAY;
  for (const file of await listUnnamedTakenIn(ctx.store, before)) {
    signal.throwIfAborted();
    const isGone = await ctx.store.write(async (tx) => {
      await lockFiles(tx, file.owner_id, [file.id]);
      const unnamed = await listUnnamedTakenIn(tx, before);
      if (!unnamed.some(({ id }) => id === file.id)) return false;
      const drafts = await listDraftsNaming(tx, file.owner_id, {
        key: file.storage_key,
        states: NOT_DISCARDED,
      });
      if (drafts.length === 0) await deleteFileRow(tx, file.owner_id, file.id);
      return drafts.length === 0;
    });
    if (isGone) await ctx.files.remove(file.storage_key);
  }
}

const NOT_DISCARDED = ["open", "waiting", "scheduled", "repeating", "ended"] as const;
