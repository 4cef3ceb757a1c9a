import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type SignedRequest } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishIo, ReconcileContext, Reconciled } from "../../ports/publish-io.ts";
import { byCode, type FaultRule, faultsBy } from "../shared/faults.ts";
import { GONE, graphUrl, listEntries, metaFaults, Moment, proofOf } from "../shared/meta/graph.ts";
import { findFirst } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { restApi } from "../shared/rest-api.ts";
import { itemsOf } from "../shared/media.ts";
import type { FacebookPost } from "./metadata.ts";

export const GRAPH_HOST = "https://graph.facebook.com";

type Settings = Pick<ConnectIo, "setting">;

/** Below it stand all methods, with the version. */
export function graphBase(io: Settings): string {
  return graphUrl(io, GRAPH_HOST);
}

/**
 * The same where films are published, which had a host of its own until Meta gave it up:
 * https://developers.facebook.com/docs/video-api/overview
 */
export function videoBase(io: Settings): string {
  const host = io.setting("VIDEO_URL");
  const version = new URL(graphBase(io)).pathname.split("/").at(-1) ?? "";
  return host === null ? graphBase(io) : `${host}/${version}`;
}

/** Signs as the Page, or as the person who connected it (`accessToken`). */
export function signedBy(io: Settings, name = "pageToken"): NonNullable<SignedRequest["sign"]> {
  return ({ [name]: token = "" }) => ({
    headers: { authorization: `Bearer ${token}` },
    query: proofOf(io.setting("CLIENT_SECRET"), token),
  });
}

/** The Graph API as the Page. */
export const {
  ask: askPage,
  askOrGone: askPageOrGone,
  request: pageRequest,
  send: sendAsPage,
  sendOrGone: sendAsPageOrGone,
} = restApi({
  base: graphBase,
  below: "/",
  sign: (secrets, io) => signedBy(io)(secrets),
  gone: [{ code: GONE }],
  faults: () => metaFaults("Facebook", RULES),
});

export function pageOf(io: Pick<PlatformIo, "account">): string {
  return io.account.platformAccountId ?? "";
}

/** Beside what is common to Meta's platforms. Seven digits are a subcode; some answers have them as the code. */
const RULES: readonly FaultRule[] = [
  ...byCode("rejected", {
    "368/1390008":
      "Facebook does not let this Page post for now, because it posted too fast. Wait some hours, then send the post again.",
    "368/4854002":
      "Facebook asks the person who connected the Page to confirm who they are. Do it in the Facebook app, then send the post again.",
    "368/1404082":
      "Facebook refused it, because the same was posted again and again. Change the post, then send it again.",
    "1609005 /1609005":
      "Facebook could not read the page that the link leads to. Check the link, then send the post again.",
    "1609008 /1609008": "Facebook takes no link cards to facebook.com. Put the link into the caption.",
    "1363040 /1363040":
      "Facebook takes reels only in the shape 9:16. Crop it, or post it with metadata.kind video.",
    "1363127 /1363127":
      "The video has too few pixels. Facebook takes reels from 540 × 960 on. Give a larger one.",
    "1363128 /1363128":
      "Facebook takes reels from 3 to 90 seconds. Shorten it, or post it with metadata.kind video.",
    "1363129 /1363129":
      "Facebook takes reels with 24 to 60 frames a second. Convert it, then schedule the post again.",
    "1366046 /1366046":
      "Facebook did not take the picture. It is too large, or of another type. Give a JPEG below 10 MB.",
    "1346003 /1346003 1404102 /1404102":
      "Facebook refused the content because of its rules. Change the post, then send it again.",
    "1404078 /1404078":
      "The Page needs Facebook's Page Publishing Authorization before it can post. Its admin gets it in the Page's settings.",
  }),
  ...byCode("transient", { "1363047 /1363047 1609010 /1609010": "Facebook has a problem of its own." }),
];

/** What an answer of the Graph API means for a Page. */
export const facebookFaults = faultsBy(metaFaults("Facebook", RULES));

/** The text is that of the post before. */
export class Duplicate extends PlatformFault {}

export const DUPLICATE: FaultRule = {
  code: 506,
  fault: ({ status: httpStatus }) =>
    new Duplicate(
      "rejected",
      "Facebook refused it as a duplicate of a post that the Page has just published. Change the text, then send the post again.",
      { httpStatus },
    ),
};

/** What Facebook names where the processing of a film failed, in our words. */
export function filmFault(code: number | null): PlatformFault {
  const rule = RULES.find((one) => code !== null && [one.code].flat().includes(String(code)));
  if (rule !== undefined && "message" in rule) return new PlatformFault("rejected", rule.message);
  const named = code === null ? "" : ` (error ${code})`;
  return new PlatformFault(
    "rejected",
    `Facebook could not process the video${named}. Check that it is a playable MP4 within the limits, then send the post again.`,
  );
}

/** Where a post is, or will be by Facebook's own schedule. */
export const PagePost = z.object({ id: z.string(), isScheduled: z.boolean() });
export type PagePost = z.infer<typeof PagePost>;

const Target = z.looseObject({ id: Id.optional().catch(undefined) }).optional();
const Attachment = z.looseObject({
  target: Target,
  unshimmed_url: z.string().optional(),
  subattachments: z.looseObject({ data: z.array(z.looseObject({ target: Target })) }).optional(),
});

const Entry = z.looseObject({
  id: Id,
  message: z.string().catch(""),
  created_time: Moment,
  application: z.looseObject({ id: Id }).optional(),
  attachments: z.looseObject({ data: z.array(Attachment) }).optional(),
});
type Entry = z.infer<typeof Entry>;

const FIELDS =
  "id,message,created_time,application{id}," +
  "attachments{target{id},unshimmed_url,subattachments{target{id}}}";

/** Looks for the post among those of the Page, the published and the scheduled. */
export function reconcilePost(
  { post, photos }: { readonly post: FacebookPost; readonly photos: readonly string[] },
  io: PublishIo,
  context: ReconcileContext,
): Promise<Reconciled<PagePost>> {
  return reconcileByListing<PagePost>(context, {
    io,
    listedAfterMs: MINUTE,
    find: (since) => findPost({ post, photos, since }, io),
  });
}

interface PostSearch {
  readonly post: FacebookPost;
  readonly photos: readonly string[];
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Null where it is in none of the Page's lists. */
export async function findPost(wanted: PostSearch, io: PublishIo): Promise<PagePost | null> {
  for (const [edge, isScheduled] of [
    ["published_posts", false],
    ["scheduled_posts", true],
  ] as const) {
    const entries = listEntries(
      io,
      pageRequest(io, { path: `${pageOf(io)}/${edge}`, query: { fields: FIELDS } }),
      Entry,
      // The newest come first there; those that wait come in the order of their times.
      isScheduled ? {} : { perPage: 25, until: ({ created_time: at }) => at < wanted.since },
    );
    const found = await findFirst(entries, (entry) => isOurs(entry, wanted, io));
    if (found !== null) return { id: found.id, isScheduled };
  }
  return null;
}

/**
 * Made by our app since then, with the same text and as many pictures, or with the very pictures that were
 * uploaded for it.
 */
function isOurs(entry: Entry, { post, photos, since }: PostSearch, io: PublishIo): boolean {
  const app = io.setting("CLIENT_ID");
  if (entry.created_time < since) return false;
  if (entry.application !== undefined && app !== null && entry.application.id !== app) return false;
  const shown = photosOf(entry);
  if (shown?.some((id) => photos.includes(id))) return true;
  const count = itemsOf(post).length;
  const isSameCount = shown === null || count === 0 || shown.length === count;
  return isSameCount && plain(entry.message) === plain(post.caption ?? "") && hasSameLink(entry, post);
}

/** Null where the answer does not tell. */
function photosOf({ attachments }: Entry): string[] | null {
  if (attachments === undefined) return null;
  const all = attachments.data.flatMap((one) => one.subattachments?.data ?? [one]);
  return all.flatMap(({ target }) => target?.id ?? []);
}

function hasSameLink({ attachments }: Entry, { metadata }: FacebookPost): boolean {
  const shown = attachments?.data[0]?.unshimmed_url;
  return metadata.link === undefined || shown === undefined || shown === metadata.link;
}

function plain(text: string): string {
  return text.normalize("NFC").replaceAll("\r\n", "\n").trim();
}
