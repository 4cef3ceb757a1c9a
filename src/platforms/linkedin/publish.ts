import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Poll } from "../../domain/posts/common-metadata.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type Json, type JsonObject } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo, Reconciled, ReconcileContext } from "../../ports/publish-io.ts";
import { inOrder, openAll } from "../shared/media.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { askLinkedIn, DuplicateFault, findPost, pageOf, sendLinkedIn, urn } from "./api.ts";
import { sendDocument, sendImage, sendVideo, waitForMedia } from "./media.ts";
import {
  askedIn,
  authorOf,
  commentsOf,
  contentProblems,
  isAllowed,
  isPage,
  type LinkedInPost,
  mixProblem,
  ofLittleText,
  POLL_DURATIONS,
  toLittleText,
} from "./metadata.ts";

/** How long LinkedIn surely knows a repeated post for a duplicate. */
const KNOWN_FOR_MS = 10 * MINUTE;

/** Media go ahead, unseen; the post that names them is one request, whose repetition LinkedIn refuses by name. */
export async function publish(post: LinkedInPost, io: PublishIo): Promise<PublishOutcome> {
  const [problem] = contentProblems(post, { account: io.account, media: new Map() });
  if (problem !== undefined) throw new AppError("invalid", problem);
  const content = await contentOf(post, io);
  if (typeof content === "number") return { state: "processing", checkAgainMs: content };
  if (!io.isDue) return { state: "prepared" };
  const id = await create(post, content, io);
  for (const [at, text] of commentsOf(post).entries()) {
    const step = at === 0 ? "first comment" : `comment ${at + 1}`;
    const name = at === 0 ? "The first comment" : `Comment ${at + 1}`;
    await io.followUp(name, () => comment({ id, text, step }, io));
  }
  return { state: "live", platformPostId: id, platformUrl: pageOf(id) };
}

/** What the post shows; null for only text, and how soon to look again while LinkedIn works on it. */
async function contentOf(post: LinkedInPost, io: PublishIo): Promise<JsonObject | number | null> {
  const { mediaUrl, metadata } = post;
  const { link, title, description, thumbnailUrl, altText, moreMedia = [], poll } = metadata;
  if (poll !== undefined) return { poll: pollOf(poll, askedIn(post).question) };
  if (link !== undefined) {
    const thumbnail =
      thumbnailUrl === undefined ? null : await sendImage(await io.media.item(thumbnailUrl), "thumbnail", io);
    const wait =
      thumbnail === null ? null : await waitForMedia({ ids: [thumbnail], kind: "images", sizeBytes: 0 }, io);
    if (wait !== null) return wait;
    const article = {
      source: link,
      title: title ?? link,
      ...(description === undefined ? {} : { description }),
      ...(thumbnail === null ? {} : { thumbnail }),
    };
    return { article };
  }
  if (mediaUrl === "") return null;
  const items = await openAll([{ url: mediaUrl, altText }, ...moreMedia], io);
  const [wrong] = mixProblem(
    items.map(({ facts }) => facts.type),
    metadata,
  );
  if (wrong !== undefined) throw new AppError("invalid", wrong);
  const [first] = items;
  if (metadata.asDocument === true || first?.facts.type === "document") {
    const { id, title: shown, sizeBytes } = await sendDocument(items, title ?? null, io);
    const brought = { ids: [id], kind: "documents", sizeBytes } as const;
    return (await waitForMedia(brought, io)) ?? { media: { id, title: shown } };
  }
  if (first?.facts.type === "video") {
    const id = await sendVideo(first, io);
    const brought = { ids: [id], kind: "videos", sizeBytes: first.facts.sizeBytes ?? 0 } as const;
    return (await waitForMedia(brought, io)) ?? { media: { id, ...(title === undefined ? {} : { title }) } };
  }
  const images = await inOrder(items, async (item, at) => {
    const id = await sendImage(item, String(at + 1), io);
    return { id, ...(item.altText === null ? {} : { altText: item.altText }) };
  });
  const ids = images.map(({ id }) => id);
  const wait = await waitForMedia({ ids, kind: "images", sizeBytes: 0 }, io);
  if (wait !== null) return wait;
  const [only] = images;
  return images.length === 1 && only !== undefined ? { media: only } : { multiImage: { images } };
}

function pollOf({ options, hours }: Poll, question: string): JsonObject {
  return {
    question,
    options: options.map((text) => ({ text })),
    settings: { voteSelectionType: "SINGLE_VOTE", duration: POLL_DURATIONS[hours] ?? "" },
  };
}

async function create(post: LinkedInPost, content: JsonObject | null, io: PublishIo): Promise<string> {
  const { metadata, caption } = post;
  const text = metadata.poll === undefined ? (caption ?? "") : askedIn(post).text;
  const json: JsonObject = {
    author: authorOf(io.account),
    commentary: toLittleText(text),
    visibility: metadata.audience ?? "PUBLIC",
    distribution: {
      feedDistribution: "MAIN_FEED",
      targetEntities: [],
      thirdPartyDistributionChannels: [],
    },
    ...(content === null ? {} : { content }),
    lifecycleState: "PUBLISHED",
    isReshareDisabledByAuthor: metadata.disableReshare === true,
  };
  return io.effect<string>({
    step: "post",
    request: json,
    send: (context) => send(json, io, { ...context, since: post.scheduledAt - MINUTE }),
    reconcile: (context) => reconcile(json, io, context),
    live: (id) => ({ platformPostId: id, platformUrl: pageOf(id) }),
  });
}

async function send(
  json: JsonObject,
  io: PublishIo,
  { timesSent, since }: EffectContext & { readonly since: number },
): Promise<string> {
  try {
    const { headers } = await sendLinkedIn(io, { path: "/rest/posts", json, kind: "write" });
    const id = headers["x-restli-id"] ?? headers["x-linkedin-id"] ?? "";
    if (/^urn:li:\w+:\d+$/.test(id)) return id;
  } catch (error) {
    // Only a sending before this one can have made it ours.
    if (error instanceof DuplicateFault && error.older !== null && timesSent > 0)
      return adopt(error.older, io, () => find(json, io, since));
    throw error;
  }
  throw new PlatformFault("ambiguous", "LinkedIn took the post but gave no id for it.", { httpStatus: 201 });
}

/**
 * LinkedIn also names posts that are not there (404), another one each time, after one was deleted. Where it may
 * be read, what is named is looked at once.
 */
async function adopt(older: string, io: PublishIo, search: () => Promise<string | null>): Promise<string> {
  if (!mayRead(io) || (await isThere(older, io))) return older;
  const found = await search();
  if (found !== null) return found;
  throw new PlatformFault(
    "rejected",
    "LinkedIn refused it as a duplicate of a post that is not there any more. Change the text, or wait two days, then send the post again.",
  );
}

async function isThere(id: string, io: PublishIo): Promise<boolean> {
  try {
    await findPost(io, id);
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return error.httpStatus !== 404;
    throw error;
  }
  return true;
}

function mayRead({ account }: PublishIo): boolean {
  return isPage(account) && isAllowed(account, "r_organization_social");
}

async function reconcile(
  json: JsonObject,
  io: PublishIo,
  context: ReconcileContext,
): Promise<Reconciled<string>> {
  // The same once more: LinkedIn names the post that is there, or takes the one that is not.
  if (io.now() < context.intentAt + KNOWN_FOR_MS) return { outcome: "send_again", isStillInDoubt: true };
  const reason = "the answer was lost, and LinkedIn does not show an app what members have posted.";
  if (!mayRead(io)) return { outcome: "unknown", reason };
  return reconcileByListing(context, {
    io,
    listedAfterMs: MINUTE,
    find: (since) => find(json, io, since),
  });
}

const Content = z.looseObject({ poll: z.looseObject({ question: z.string() }).optional() });

const Posts = z.looseObject({
  elements: z.array(
    z.looseObject({
      id: z.string(),
      commentary: z.string().catch(""),
      createdAt: z.number().catch(0),
      content: Content.optional().catch(undefined),
    }),
  ),
});

async function find(json: JsonObject, io: PublishIo, since: number): Promise<string | null> {
  const author = urn(authorOf(io.account));
  const wanted = ofLittleText(String(json["commentary"]));
  const path = `/rest/posts?q=author&author=${author}&count=100&sortBy=CREATED`;
  const call = { path, headers: { "x-restli-method": "FINDER" }, kind: "read" } as const;
  const { elements } = await askLinkedIn(io, call, Posts);
  const { poll } = Content.parse(json["content"] ?? {});
  const same = elements.find(
    ({ commentary, createdAt, content }) =>
      ofLittleText(commentary) === wanted && createdAt >= since && content?.poll?.question === poll?.question,
  );
  return same?.id ?? null;
}

const Comments = z.looseObject({
  elements: z.array(z.looseObject({ message: z.looseObject({ text: z.string().catch("") }) })).catch([]),
});

async function comment(
  { id, text, step }: { readonly id: string; readonly text: string; readonly step: string },
  io: PublishIo,
): Promise<void> {
  const path = `/rest/socialActions/${urn(id)}/comments`;
  const json = { actor: authorOf(io.account), object: id, message: { text } };
  await io.effect<Json>({
    step,
    request: json,
    send: async () => {
      await sendLinkedIn(io, { path, json, kind: "read" });
      return null;
    },
    reconcile: async () => {
      const found = await askLinkedIn(io, { path, kind: "read" }, Comments).catch((error: unknown) => {
        if (error instanceof PlatformFault && error.kind === "rejected") return null;
        throw error;
      });
      if (found === null)
        return {
          outcome: "unknown",
          reason: "the answer was lost, and LinkedIn does not show the comments.",
        };
      const isThere = found.elements.some(({ message }) => message.text === text);
      return isThere ? { outcome: "done", result: null } : { outcome: "send_again" };
    },
  });
}
