import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { mentionToken } from "../../domain/posts/mentions.ts";
import type { Metrics } from "../../domain/posts/post.ts";
import type { Choice, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { countByPost, type CountedPost, idReader } from "../shared/live.ts";
import { laterIds, partsOf } from "../shared/thread.ts";
import { Note, own, ownOrGone, TITLE, User } from "./api.ts";
import type { MisskeyPost } from "./metadata.ts";
import { listNotes, stepOf, uploadStep } from "./publish.ts";

const idOf = idReader("the note's id on its server is not known.");

const Found = User.pick({ username: true, name: true }).extend({ host: z.string().max(300).nullish() });

/** People whom the server knows. */
export async function people(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const [username = "", host] = search.replace(/^@/, "").split("@");
  if (username === "") return [];
  const json = { username, ...(host === undefined ? {} : { host }), limit: 50, detail: false };
  const found = await own(io, { method: "users/search-by-username-and-host", json }, z.array(Found));
  return found.map(({ username: name, host: at, name: shown }) => {
    const address = (at ?? null) === null ? `@${name}` : `@${name}@${at}`;
    return {
      value: mentionToken(shown || name, address),
      label: shown ? `${shown} (${address})` : address,
    };
  });
}

/** Misskey does not count views. */
export async function insights(post: MisskeyPost, io: PlatformIo): Promise<PostInsights> {
  const note = await ownOrGone(io, { method: "notes/show", json: { noteId: idOf(post) } }, Note);
  if (note === null) return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: note.visibility, metrics: countOf(note) };
}

function countOf({ reactions, repliesCount, renoteCount }: Note): Partial<Metrics> {
  const likes = Object.values(reactions).reduce((sum, count) => sum + count, 0);
  return { likes, comments: repliesCount ?? null, shares: renoteCount ?? null };
}

/** Followers as they are now, and the reactions so far to the notes of the range, by the day of the note. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const { followersCount: followers } = await own(io, { method: "i", json: {} }, User);
  return countByPost(countedSince(io, Date.parse(range.from)), range, {
    followers,
    title: TITLE,
    uncounted: ["views", "impressions", "reach", "saves", "clicks"],
  });
}

async function* countedSince(io: PlatformIo, since: number): AsyncGenerator<CountedPost> {
  for await (const note of listNotes(io, since))
    yield { date: note.createdAt.slice(0, 10), counts: countOf(note) };
}

const Posted = z.object({ id: z.string() });

/** Changes the files: the first one's alternative text, or whether all of them are shown at once. */
export async function edit(post: MisskeyPost, changed: readonly string[], io: PlatformIo): Promise<object> {
  const steps = partsOf(post).flatMap(({ media }, at) => media.map((_item, index) => uploadStep(at, index)));
  for (const [at, step] of steps.entries()) {
    const file = Posted.safeParse(io.resultOf(step));
    if (!file.success) throw new AppError("conflict", "The note's files are not known any more.");
    const { altText = "", sensitive: isSensitive = false } = post.metadata;
    const json = {
      fileId: file.data.id,
      ...(at === 0 && changed.includes("altText") ? { comment: altText } : {}),
      ...(changed.includes("sensitive") ? { isSensitive } : {}),
    };
    if (Object.keys(json).length > 1)
      await own(io, { method: "drive/files/update", json }, z.looseObject({}));
  }
  return {};
}

/** Deletions closer together than a second are refused. */
const BETWEEN_MS = 1_100;

/** Deletes the whole thread, last part first. What is gone already is no error. */
export async function remove(post: MisskeyPost, io: PlatformIo): Promise<void> {
  for (const [at, noteId] of [...laterIds(post, io, stepOf), idOf(post)].entries()) {
    if (at > 0) await io.sleep(BETWEEN_MS);
    await ownOrGone(io, { method: "notes/delete", json: { noteId } }, z.null());
  }
}
