import { MINUTE } from "../../domain/time.ts";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { asciiAddressOf, openAll } from "../shared/media.ts";
import {
  type Container,
  type ContainerApi,
  createContainers,
  type Containers,
  readPermalink,
} from "../shared/meta/containers.ts";
import { apiOf, findPost } from "./api.ts";
import { MAX_ITEMS, type Part, partsOf, spoilersOf, type ThreadsPost } from "./metadata.ts";

const MB = 1_000_000;

export const IMAGE = {
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png"],
  maxBytes: 8 * MB,
  maxWidth: 1_440,
  minAspectRatio: 0.1,
  maxAspectRatio: 10,
  fill: "white",
  animated: false,
  maxItems: MAX_ITEMS,
} as const satisfies AcceptedMedia;

const FETCHED_WITHIN_MINUTES = 180;

export const publishStep = (part: number): string => `publish.${part}`;

/** Noted where Threads did not share the post: https://developers.facebook.com/documentation/threads/create-posts/share-to-ig-stories */
const UNSHARED = "unshared";
const UNSHARED_SENTENCE =
  "Threads did not make it. Check that an Instagram account is linked to this one, and share the post in the app.";

interface Work {
  readonly post: ThreadsPost;
  readonly io: PublishIo;
  readonly containers: Containers;
}

/** A part of the thread, from 1, and the id of the one before. */
interface ThreadPart {
  readonly part: Part;
  readonly number: number;
  readonly replyTo: string | null;
}

/**
 * The first post is made ready ahead of its time and published once; the others follow it, each a reply to
 * the one before.
 */
export async function publish(post: ThreadsPost, io: PublishIo): Promise<PublishOutcome> {
  const api = apiOf(io);
  const published: ContainerApi["published"] = async (answer) => {
    if (answer["crossreshare_to_ig_status"] === "FAILED") await io.once(UNSHARED, () => true);
  };
  const work = { post, io, containers: createContainers(io, { ...api, published }) };
  const [part, ...rest] = partsOf(post);
  const first = { part, number: 1, replyTo: null };
  const container = await prepare(work, first);
  if (typeof container === "number") return { state: "processing", checkAgainMs: container };
  if (!io.isDue) return { state: "prepared" };
  const id = await publishPart(work, first, container);
  const platformUrl = await readPermalink(api, id);
  if (post.metadata.shareToInstagram === true && (await io.once(UNSHARED, () => false)))
    await io.followUp("The story on Instagram", async () => {
      throw new PlatformFault("rejected", UNSHARED_SENTENCE);
    });
  if (rest.length > 0) await io.followUp("The rest of the thread", () => goOn(work, rest, id));
  return { state: "live", platformPostId: id, platformUrl };
}

async function goOn(work: Work, rest: readonly Part[], first: string | null): Promise<void> {
  let replyTo = first;
  for (const [at, part] of rest.entries()) {
    const numbered = { part, number: at + 2, replyTo };
    if (replyTo === null)
      throw new PlatformFault("rejected", "Threads does not say which post this is. Go on in the app.");
    const container = await prepare(work, numbered);
    if (typeof container === "number")
      throw new PlatformFault("transient", "Threads is still getting the media ready.", { isNotDone: true });
    replyTo = await publishPart(work, numbered, container);
  }
}

function publishPart({ post, io, containers }: Work, { part, number }: ThreadPart, container: Container) {
  return containers.publish({
    step: publishStep(number),
    container,
    find: (since) =>
      findPost(io, {
        text: part.text,
        since: Math.max(since, post.scheduledAt - MINUTE),
        isReply: number > 1,
      }),
    ...(number === 1
      ? { live: (platformPostId: string | null) => ({ platformPostId, platformUrl: null }) }
      : {}),
  });
}

/** The container that is ready to be published, or in how many milliseconds to ask again. */
async function prepare(work: Work, numbered: ThreadPart): Promise<Container | number> {
  const { io, containers } = work;
  const { part, number } = numbered;
  const items = await openAll(part.media, io);
  return containers.prepare({
    step: `container.${number}`,
    publishStep: publishStep(number),
    itemStep: (nth) => `item.${number}.${nth}`,
    request: { text: part.text, items: items.map(({ url }) => url), replyTo: numbered.replyTo },
    items,
    fieldsOf: (item) => mediumOf(io, item),
    fields: async (children) => ({
      ...(await contentOf(io, items, children)),
      ...(part.text === "" ? {} : { text: part.text }),
      ...(numbered.replyTo === null ? optionsOf(work.post) : { reply_to_id: numbered.replyTo }),
    }),
  });
}

async function contentOf(
  io: PublishIo,
  [first, ...more]: readonly MediaItem[],
  children: readonly string[],
): Promise<JsonObject> {
  if (first === undefined) return { media_type: "TEXT" };
  if (more.length === 0) return mediumOf(io, first);
  return { media_type: "CAROUSEL", children: children.join(",") };
}

async function mediumOf(io: PublishIo, item: MediaItem): Promise<JsonObject> {
  const alt = item.altText === null ? {} : { alt_text: item.altText };
  const { maxBytes, mimeTypes, maxWidth, minAspectRatio: min, maxAspectRatio: max, fill } = IMAGE;
  const limits = { maxBytes, mimeTypes, maxWidth, aspect: { min, max, fill } };
  const url = await asciiAddressOf(io, item, { limits, minutes: FETCHED_WITHIN_MINUTES });
  if (item.facts.type === "video") return { media_type: "VIDEO", video_url: url, ...alt };
  return { media_type: "IMAGE", image_url: url, ...alt };
}

/** option_a to option_d. */
function optionsByLetter(options: readonly string[]): JsonObject {
  return Object.fromEntries(options.map((option, at) => [`option_${"abcd".charAt(at)}`, option]));
}

function optionsOf(post: ThreadsPost): JsonObject {
  const { metadata } = post;
  const { link, topicTag, replyControl, sensitive, quotePostId, poll, longText } = metadata;
  const { gifId, locationId, shareToInstagram } = metadata;
  const hidden = spoilersOf(post).map(({ offset, length }) => ({ entity_type: "SPOILER", offset, length }));
  return {
    ...(gifId === undefined ? {} : { gif_attachment: JSON.stringify({ gif_id: gifId, provider: "GIPHY" }) }),
    ...(hidden.length === 0 ? {} : { text_entities: JSON.stringify(hidden) }),
    ...(locationId === undefined ? {} : { location_id: locationId }),
    ...(shareToInstagram === true ? { crossreshare_to_ig: true } : {}),
    ...(poll === undefined ? {} : { poll_attachment: JSON.stringify(optionsByLetter(poll.options)) }),
    ...(longText === undefined ? {} : { text_attachment: JSON.stringify({ plaintext: longText }) }),
    ...(link === undefined ? {} : { link_attachment: link }),
    ...(topicTag === undefined ? {} : { topic_tag: topicTag.replace("#", "") }),
    ...(replyControl === undefined ? {} : { reply_control: replyControl }),
    ...(sensitive === true ? { is_spoiler_media: true } : {}),
    ...(quotePostId === undefined ? {} : { quote_post_id: quotePostId }),
  };
}
