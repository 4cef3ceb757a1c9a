import * as z from "zod";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { asciiAddressOf } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { askAs, askOrGone, placeOf, POST_NAME } from "./api.ts";
import { type BusinessPost, fieldsOf } from "./metadata.ts";

export const IMAGE = {
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png"],
  maxBytes: 5_000_000,
  minWidth: 250,
  minHeight: 250,
  animated: false,
  maxItems: 1,
} as const;

/** Google looks at a post before it shows it, and fetches the picture then. */
const FETCHED_WITHIN_MINUTES = 180;

/** Nearer than this, a post goes out at its time: Google may be slow to take it, or have another clock. */
const SOONEST_MS = 5 * MINUTE;

/** A new post may not be found yet. */
const APPEARS_WITHIN_MS = 2 * MINUTE;

/** After trouble. */
const ASK_AGAIN_MS = 20 * SECOND;

const LocalPost = z.looseObject({
  name: z.string().regex(POST_NAME),
  state: z.string().catch(""),
  summary: z.string().catch(""),
  topicType: z.string().catch(""),
  createTime: z.string().catch(""),
  scheduledTime: z.string().optional().catch(undefined),
  searchUrl: z
    .url({ protocol: /^https$/ })
    .optional()
    .catch(undefined),
  event: z
    .looseObject({ title: z.string().catch("") })
    .optional()
    .catch(undefined),
  media: z.array(z.unknown()).catch([]),
});
type LocalPost = z.infer<typeof LocalPost>;

const CreatedPost = z.object({ name: z.string(), at: z.number() });
type CreatedPost = z.infer<typeof CreatedPost>;

class TooNear extends PlatformFault {
  constructor() {
    super("not_sent", "It is too late for Google's own schedule. The post goes out at its time.");
  }
}

/** Google holds a post until its time, and looks at each before it shows it, which may take a while. */
export async function publish(post: BusinessPost, io: PublishIo): Promise<PublishOutcome> {
  const placed = await place(post, io).catch((error: unknown) => {
    if (error instanceof TooNear) return null;
    throw error;
  });
  if (placed === null) return { state: "prepared" };
  return look(placed, io);
}

async function place(post: BusinessPost, io: PublishIo): Promise<CreatedPost> {
  const known = CreatedPost.nullable().parse(io.resultOf("post"));
  if (known !== null) return known;
  // What is wrong with the picture is found before anything may have been sent.
  const media = await mediaOf(post, io);
  const fields = fieldsOf(post, io.account.settings["languageCode"]);
  const { account, location } = placeOf(io);
  const path = `v4/${account}/${location}/localPosts`;
  return io.effect<CreatedPost>({
    step: "post",
    request: { ...fields, media: post.mediaUrl },
    send: async () => {
      if (!io.isDue && post.scheduledAt - io.now() < SOONEST_MS) throw new TooNear();
      const json = { ...fields, ...media, ...timeOf(post, io) };
      const { name } = await askAs(io, { method: "POST", path, json }, LocalPost);
      return { name, at: io.now() };
    },
    reconcile: (context) =>
      reconcileByListing<CreatedPost>(context, {
        io,
        listedAfterMs: MINUTE,
        find: async (since, doubts) => {
          const tooMany = (): void => doubts(TOO_MANY);
          const found = await findFirst(listPosts(io, path, tooMany), (one) =>
            isSame(one, { fields, post, since }),
          );
          return found === null ? null : { name: found.name, at: io.now() };
        },
      }),
  });
}

const TOO_MANY = "the answer was lost, and the location has too many posts to look through.";

async function mediaOf({ mediaUrl }: BusinessPost, io: PublishIo): Promise<JsonObject> {
  if (mediaUrl === "") return {};
  const item = await io.media.item(mediaUrl);
  const sourceUrl = await asciiAddressOf(io, item, { limits: IMAGE, minutes: FETCHED_WITHIN_MINUTES });
  return { media: [{ mediaFormat: "PHOTO", sourceUrl }] };
}

function timeOf({ scheduledAt }: BusinessPost, io: PublishIo): JsonObject {
  return io.isDue ? {} : { scheduledTime: toIso(scheduledAt) };
}

const Page = z.looseObject({
  localPosts: z.array(LocalPost).default([]),
  nextPageToken: z.string().optional(),
});

/** Google does not say in which order it lists. */
const MAX_PAGES = 20;

interface PostSearch {
  readonly fields: JsonObject;
  readonly post: BusinessPost;
  /** Milliseconds since 1970. */
  readonly since: number;
}

function listPosts(io: PlatformIo, path: string, tooMany: () => void): AsyncGenerator<LocalPost> {
  return pages(
    MAX_PAGES,
    async (pageToken) => {
      const call = { path, query: { pageSize: 100, pageToken } };
      const { localPosts, nextPageToken } = await askAs(io, call, Page);
      return { items: localPosts, next: nextPageToken };
    },
    tooMany,
  );
}

/** Sent ahead of its time, or at it. */
function isSame(one: LocalPost, { fields, post, since }: PostSearch): boolean {
  const isOfThen = one.scheduledTime === undefined || Date.parse(one.scheduledTime) === post.scheduledAt;
  return (
    Date.parse(one.createTime) >= since &&
    isOfThen &&
    one.topicType === fields["topicType"] &&
    one.media.length > 0 === (post.mediaUrl !== "") &&
    (one.event?.title ?? "") === (post.metadata.title ?? "") &&
    plain(one.summary) === plain(post.caption ?? "")
  );
}

function plain(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

/** Null where Google has it no more. */
export async function readPost(io: PlatformIo, name: string): Promise<LocalPost | null> {
  return askOrGone(io, { path: `v4/${name}` }, LocalPost);
}

/**
 * What has become of it. Trouble with asking is no trouble of the post's: it is there, and nothing may send it
 * a second time. Throws `auth`, and `rejected` for a post that Google will not show.
 */
async function look({ name, at }: CreatedPost, io: PublishIo): Promise<PublishOutcome> {
  const held = { state: "held", platformPostId: name, platformUrl: null } as const;
  let found: LocalPost | null;
  try {
    found = await readPost(io, name);
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind === "auth") throw error;
    io.log.warn({ name, err: error }, "a post could not be asked about");
    return { ...held, checkAgainMs: error.retryAfterMs ?? ASK_AGAIN_MS, note: error.message };
  }
  const sinceMs = io.now() - at;
  if (found === null && sinceMs >= APPEARS_WITHIN_MS) throw new PlatformFault("rejected", GONE);
  const { state = "", searchUrl: platformUrl = null } = found ?? {};
  switch (state) {
    case "LIVE":
    case "RECURRING":
      await io.live({ platformPostId: name, platformUrl });
      return { state: "live", platformPostId: name, platformUrl };
    case "REJECTED":
      throw new PlatformFault("rejected", REJECTED);
    case "SCHEDULED":
      return { ...held, platformUrl };
    default:
      // It is being looked at, before its time too, for the person to learn of a refusal while there is time.
      return { ...held, platformUrl, checkAgainMs: Math.max(5 * SECOND, Math.round(sinceMs / 4)) };
  }
}

const GONE = "It is not on Google any more. It was deleted there before it was shown. Send it again.";

const REJECTED =
  "Google reviewed the post and rejected it without a reason. Mostly it is a phone number in the text, or else its rules at https://support.google.com/business/answer/7213077. Change the post, then send it again.";
