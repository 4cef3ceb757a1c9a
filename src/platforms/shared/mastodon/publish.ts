import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import { captionLength, measureText } from "../../../domain/posts/caption.ts";
import { mentionsByAddress } from "../../../domain/posts/mentions.ts";
import type { Poll } from "../../../domain/posts/common-metadata.ts";
import { parseUrl } from "../../../domain/parse-url.ts";
import { MINUTE, SECOND } from "../../../domain/time.ts";
import type { MediaItem } from "../../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../../ports/platform-io.ts";
import type { CheckResult, CheckedAt, PublishOutcome } from "../../../ports/platform.ts";
import type { EffectContext, LiveAt, PublishIo } from "../../../ports/publish-io.ts";
import type { FormPart } from "../../../ports/request-body.ts";
import { checkFirst, filePart, inOrder, openAll, picturePart } from "../media.ts";
import { pages } from "../pages.ts";
import { idOnServer } from "../servers.ts";
import { repeatableStep, reconcileByListing } from "../reconcile.ts";
import { textOfHtml } from "../../../domain/text/html-text.ts";
import { comparable } from "../text.ts";
import { replaceAddresses } from "./addresses.ts";
import { checkAltTexts, type Part, partsOf, type InThread, sendThread, tooLong } from "../thread.ts";
import { UPLOAD_TIMES } from "../uploads.ts";
import { Attachment, isGone, type MastodonPost, own, ownOrGone, Status } from "./api.ts";
import { altLengthOf, capabilitiesOf, familyOf, pollLimitsOf, takesQuotes } from "./limits.ts";

/** A request that was given up may still arrive more than a minute later. */
const LISTED_AFTER_MS = 2 * MINUTE;

const ASK_MEDIA_AGAIN_MS = 3 * SECOND;

/** A status as the ledger keeps it. */
type CreatedStatus = { readonly id: string; readonly url: string | null };

/** What may be sent of a part: its place in the thread, and what it answers. */
interface Outgoing extends InThread {
  readonly post: MastodonPost;
  readonly part: Part;
  readonly mediaIds: readonly string[];
}

/**
 * Media of the whole thread first, as unseen attachments; then the public status, and then those that follow it.
 */
export async function publish(post: MastodonPost, io: PublishIo): Promise<PublishOutcome> {
  const parts = partsOf(post, mentionsByAddress);
  const media = await inOrder(parts, (part, at) => {
    const thumbnailUrl = at === 0 ? (post.metadata.thumbnailUrl ?? null) : null;
    return sendMedia(part, {
      io,
      name: String(at + 1),
      thumbnailUrl,
      focus: at === 0 ? focusOf(post) : null,
    });
  });
  if (!io.isDue) return { state: "prepared" };
  if (await isProcessing(media.flat(), io)) return { state: "processing", checkAgainMs: ASK_MEDIA_AGAIN_MS };
  const send = (part: Part, at: InThread): Promise<CreatedStatus> => {
    const mediaIds = (media[at.at] ?? []).map(({ id }) => id);
    return sendStatus({ post, part, mediaIds, ...at }, io);
  };
  return { state: "live", ...liveAt(await sendThread(parts, send, io)) };
}

function liveAt({ id, url }: CreatedStatus): LiveAt {
  return { platformPostId: id, platformUrl: url };
}

/** Names the step that brings a part of the thread, from 0. */
export function stepOf(at: number): string {
  return `status ${at + 1}`;
}

/** As Mastodon takes it. */
export function pollOf({ options, hours, multiple = false }: Poll): JsonObject {
  return { options: [...options], expires_in: Math.round(hours * 3_600), multiple };
}

/** The id of the post that `quote` names, by itself or at the end of its address on the channel's own server. */
function quotedId(quote: string): string | null {
  return /(?:^|\/)([0-9A-Za-z_-]{1,64})\/?$/.exec(quote)?.[1] ?? null;
}

function sendStatus(outgoing: Outgoing, io: PublishIo): Promise<CreatedStatus> {
  const { at, part, mediaIds, replyTo, post } = outgoing;
  const body = bodyOf(outgoing, io);
  const wanted = { text: part.text, spoilerText: post.metadata.spoilerText ?? "", mediaIds, replyTo };
  const { keyMs, listsAll } = familyOf(io.account);
  return io.effect<CreatedStatus>({
    step: stepOf(at),
    request: body,
    send: (context) => create(body, context, io),
    reconcile: async (context) => {
      const isListed = listsAll || (post.metadata.visibility ?? "public") === "public";
      return reconcileByListing(context, {
        io,
        listedAfterMs: LISTED_AFTER_MS,
        keyMs,
        doubt: isListed ? undefined : "the answer was lost, and this server lists only public posts.",
        find: (since) => findStatus(io, wanted, since),
      });
    },
    ...(at === 0 ? { live: liveAt } : {}),
  });
}

async function create(body: JsonObject, { key }: EffectContext, io: PublishIo): Promise<CreatedStatus> {
  const headers = familyOf(io.account).sendsKey ? { "idempotency-key": key } : {};
  const call = { method: "POST", path: "/api/v1/statuses", json: body, headers } as const;
  const { id, url } = await own(io, call, Status);
  return { id, url };
}

function bodyOf({ post, part, mediaIds, replyTo, at }: Outgoing, io: PublishIo): JsonObject {
  const { visibility, sensitive, spoilerText, language, poll, quote } = post.metadata;
  if (part.text.trim() === "" && mediaIds.length === 0)
    throw new AppError(
      "invalid",
      "caption: is empty, and there is no media. Give text, a picture or a video.",
    );
  return {
    status: familyOf(io.account).write(part.text),
    ...(mediaIds.length === 0 ? {} : { media_ids: [...mediaIds] }),
    ...(replyTo === null ? {} : { in_reply_to_id: replyTo }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(spoilerText === undefined ? {} : { spoiler_text: spoilerText }),
    ...(language === undefined ? {} : { language }),
    ...(familyOf(io.account).takesContentType ? { content_type: "text/plain" } : {}),
    ...(poll === undefined || at > 0 ? {} : { poll: pollOf(poll) }),
    ...(quote === undefined || at > 0 ? {} : { quoted_status_id: quotedId(quote) }),
  };
}

const PAGE = 40;
const MAX_PAGES = 10;

export function pathOf(id: string): string {
  return `/api/v1/statuses/${encodeURIComponent(id)}`;
}

/** What a status must be to be the one that was sent. */
interface StatusSearch {
  readonly text: string;
  readonly spoilerText: string;
  readonly mediaIds: readonly string[];
  readonly replyTo: string | null;
}

/** Those of the account since then (milliseconds since 1970), the newest first, without boosts. */
export function listStatuses(io: PlatformIo, since: number): AsyncGenerator<Status> {
  const path = `/api/v1/accounts/${encodeURIComponent(idOnServer(io))}/statuses`;
  return pages(MAX_PAGES, async (maxId) => {
    const query = { limit: PAGE, exclude_reblogs: true, max_id: maxId };
    const statuses = await own(io, { path, query }, z.array(Status));
    // One that is boosted stands there with its own author and moment.
    const items = statuses.filter(
      ({ created_at: at, reblog }) => Date.parse(at) >= since && (reblog ?? null) === null,
    );
    const last = statuses.at(-1);
    const isOver = last === undefined || last.id === maxId || Date.parse(last.created_at) < since;
    return { items, next: isOver ? null : last.id };
  });
}

async function findStatus(
  io: PlatformIo,
  wanted: StatusSearch,
  since: number,
): Promise<CreatedStatus | null> {
  const { keepsMediaIds } = familyOf(io.account);
  for await (const status of listStatuses(io, since)) {
    if (status.in_reply_to_id !== wanted.replyTo) continue;
    const ids = status.media_attachments.map(({ id }) => id);
    if (ids.length !== wanted.mediaIds.length) continue;
    const hasMedia = ids.length > 0 && ids.every((id) => wanted.mediaIds.includes(id));
    if (ids.length > 0 && !hasMedia && keepsMediaIds) continue;
    if (hasMedia || (await hasText(io, status, wanted))) return { id: status.id, url: status.url };
  }
  return null;
}

const Source = z.looseObject({ text: z.string(), spoiler_text: z.string().catch("") });

/** By what readers see; where a server has made markup of it, by what was sent. */
async function hasText(
  io: PlatformIo,
  status: Status,
  { text, spoilerText }: StatusSearch,
): Promise<boolean> {
  if (comparable(status.spoiler_text) !== comparable(spoilerText)) return false;
  if (isSame(textOfHtml(status.content), text)) return true;
  const source = await readSource(io, status.id);
  return source !== null && isSame(source.text, text);
}

/** The text as it was written; null where the server does not tell. */
export function readSource(io: PlatformIo, id: string): Promise<z.infer<typeof Source> | null> {
  return ownOrGone(io, { path: `${pathOf(id)}/source` }, Source);
}

function isSame(one: string, other: string): boolean {
  return comparable(withoutHosts(one)) === comparable(withoutHosts(other));
}

/** Readers see a mention of a person on another server without that server. */
function withoutHosts(text: string): string {
  return text.replace(MENTION, (whole: string, name: string) =>
    whole.length - name.length > MAX_SERVER + 1 ? whole : name,
  );
}

/** What is longer is no name of a server, and makes no mention. */
const MAX_SERVER = 253;
const MENTION = /(@[\p{L}\p{N}_.-]*[\p{L}\p{N}_])@[\p{L}\p{N}][\p{L}\p{N}.-]*[\p{L}\p{N}]/gu;

/** A file on the server that no status names yet. `isReady`: it was when it had come. */
type UploadedMedia = { readonly id: string; readonly isReady: boolean };

interface Sending {
  readonly io: PublishIo;
  /** Names the part of the thread. */
  readonly name: string;
  /** Shown before a video or sound plays. */
  readonly thumbnailUrl: string | null;
  /** Of the first item: what must stay in sight, as `x,y`. */
  readonly focus: string | null;
}

function focusOf({ metadata: { focus } }: MastodonPost): string | null {
  return focus === undefined ? null : `${focus.x},${focus.y}`;
}

/** Opens all of a part's media before anything is sent: what cannot be posted is refused as a whole. */
async function sendMedia({ media }: Part, to: Sending): Promise<UploadedMedia[]> {
  const items = await openAll(media, to.io);
  if (items.length > 1 && items.some(({ facts }) => facts.type !== "image"))
    throw new AppError("invalid", MIXED);
  return inOrder(items, (item, at) =>
    sendOne(item, { ...to, name: `${to.name}.${at + 1}`, focus: at === 0 ? to.focus : null }),
  );
}

const MIXED =
  "metadata.moreMedia: a post on this server shows either pictures or one video or sound. Leave the rest out or use metadata.thread.";

function sendOne(item: MediaItem, to: Sending): Promise<UploadedMedia> {
  const { io } = to;
  return repeatableStep<UploadedMedia>(io, {
    step: `upload ${to.name}`,
    request: { url: item.url, altText: item.altText, thumbnailUrl: to.thumbnailUrl, focus: to.focus },
    send: async () => upload(io, await toForm(item, to)),
    isGone: async ({ id }) => (await readAttachment(io, id)) === null,
  });
}

async function toForm(item: MediaItem, { io, thumbnailUrl, focus }: Sending): Promise<FormPart[]> {
  const at = { io, accepts: capabilitiesOf(io.account).media.accepts };
  const description = [
    ...(item.altText ? [{ name: "description", text: item.altText }] : []),
    ...(focus === null ? [] : [{ name: "focus", text: focus }]),
  ];
  const file = await filePart("file", item, at);
  if (item.facts.type === "image" || thumbnailUrl === null) return [file, ...description];
  return [file, ...description, await picturePart("thumbnail", await io.media.item(thumbnailUrl), at)];
}

/** 202 is "not ready yet" with an attachment that has no address so far. */
async function upload(io: PublishIo, multipart: readonly FormPart[]): Promise<UploadedMedia> {
  const send = (path: string) => own(io, { method: "POST", path, multipart, ...UPLOAD_TIMES }, Attachment);
  try {
    const { id, url } = await send("/api/v2/media");
    return { id, isReady: typeof url === "string" };
  } catch (error) {
    // Mastodon before 3.1.3, and servers that follow it, have only the older one.
    if (!isGone(error) && !(error instanceof PlatformFault && error.httpStatus === 405)) throw error;
    return { id: (await send("/api/v1/media")).id, isReady: true };
  }
}

const Processing = z.union([Attachment, z.looseObject({})]);

/** Null where the server has no such file that no status names. */
function readAttachment(io: PlatformIo, id: string): Promise<z.infer<typeof Processing> | null> {
  return ownOrGone(io, { path: `/api/v1/media/${encodeURIComponent(id)}` }, Processing);
}

/** Whether the server still works on any of them. Throws `rejected` where it could not make use of one. */
async function isProcessing(attached: readonly UploadedMedia[], io: PlatformIo): Promise<boolean> {
  for (const { id, isReady } of attached) {
    if (isReady) continue;
    const found = await readAttachment(io, id);
    // Once a status has it, it is not there any more: the status tells.
    if (found !== null && typeof found["url"] !== "string") return true;
  }
  return false;
}

/** Graphemes as readers see them. `urlLength`: what the server counts for each address. */
export function measure(text: string, urlLength?: number): number {
  const counted = urlLength === undefined ? text : replaceAddresses(text, "x".repeat(urlLength));
  return measureText(withoutHosts(counted), "graphemes");
}

/** What the schema cannot say: lengths on this server, and what excludes what. */
export function check(post: MastodonPost, { account, media }: CheckedAt): CheckResult {
  const { spoilerText } = post.metadata;
  const errors = [
    ...checkLengths(post, account),
    ...checkMedia(post, { account, media }),
    ...checkPoll(post, account),
    ...checkQuote(post, account),
  ];
  const warnings =
    spoilerText?.trim() === "" ? ["metadata.spoilerText: is empty, so there is no content warning."] : [];
  const isPicture = post.mediaUrl === "" || media.get(post.mediaUrl)?.type === "image";
  if (post.metadata.thumbnailUrl !== undefined && isPicture)
    warnings.push("metadata.thumbnailUrl: Mastodon shows one only on a video or a sound.");
  // Who may see the other post is known to the server alone.
  if (
    post.metadata.quote !== undefined &&
    [undefined, "public", "unlisted"].includes(post.metadata.visibility)
  )
    warnings.push(
      "metadata.quote: where only followers may see the other post, Mastodon shows this one to followers alone, too.",
    );
  return { errors, warnings };
}

function checkPoll({ mediaUrl, metadata: { poll } }: MastodonPost, account: CheckedAt["account"]): string[] {
  if (poll === undefined) return [];
  const { maxOptions, maxOptionLength, minSeconds, maxSeconds } = pollLimitsOf(account);
  const seconds = Math.round(poll.hours * 3_600);
  const longest = Math.max(...poll.options.map((option) => measureText(option, "characters")));
  const hours = (limit: number): number => Math.floor((limit / 3_600) * 100) / 100;
  return [
    ...(mediaUrl === "" ? [] : ["metadata.poll: stands in place of media. Leave one of the two out."]),
    ...(poll.options.length <= maxOptions
      ? []
      : [`metadata.poll.options: this server takes at most ${maxOptions} answers. Leave some out.`]),
    ...(longest <= maxOptionLength
      ? []
      : [
          `metadata.poll.options: this server takes at most ${maxOptionLength} characters an answer. Shorten them.`,
        ]),
    ...(seconds >= minSeconds && seconds <= maxSeconds
      ? []
      : [`metadata.poll.hours: must be from ${hours(minSeconds)} to ${hours(maxSeconds)} on this server.`]),
  ];
}

function checkQuote({ metadata: { quote, poll } }: MastodonPost, account: CheckedAt["account"]): string[] {
  if (quote === undefined) return [];
  if (!takesQuotes(account))
    return ["metadata.quote: this server shows no quotes (Mastodon does from 4.5 on). Leave it out."];
  const home = String(account.settings["instanceUrl"] ?? "");
  const isElsewhere = /^https?:/.test(quote) && parseUrl(quote)?.host !== parseUrl(home)?.host;
  if (isElsewhere || quotedId(quote) === null)
    return [
      "metadata.quote: is no post on the channel's own server. Open the post there, and give the address that the browser shows.",
    ];
  return poll === undefined
    ? []
    : ["metadata.quote: a post shows either a quote or a poll. Leave one of the two out."];
}

/** Their alternative texts, and what excludes what. */
export function checkMedia(
  { mediaUrl, metadata }: MastodonPost,
  { account, media }: Pick<CheckedAt, "account" | "media">,
): string[] {
  const errors = [
    ...checkAltTexts(metadata, altLengthOf(account)),
    ...checkFirst({ mediaUrl, metadata }, "picture"),
  ];
  const kinds = [mediaUrl, ...(metadata.moreMedia ?? []).map(({ url }) => url)].map(
    (url) => media.get(url)?.type,
  );
  const hasFilm = kinds.some((kind) => kind === "video" || kind === "audio");
  return kinds.length > 1 && hasFilm ? [...errors, MIXED] : errors;
}

/** The content warning counts with the text, in each post of a thread; addresses in either by themselves. */
export function countedOf({ spoilerText = "" }: MastodonPost["metadata"], text: string): string[] {
  return [spoilerText, text];
}

function checkLengths(post: MastodonPost, account: CheckedAt["account"]): string[] {
  const { caption } = capabilitiesOf(account);
  const warning = post.metadata.spoilerText ?? "";
  return partsOf(post, mentionsByAddress).flatMap(({ text }, at) => {
    // The caption by itself is held to its limit wherever posts are checked.
    if (at === 0 && warning === "") return [];
    const lengths = countedOf(post.metadata, text).map((one) => captionLength(one, caption, measure));
    const length = lengths.reduce((sum, one) => sum + one, 0);
    const max = caption.maxLength ?? Infinity;
    if (at === 0 && captionLength(text, caption, measure) > max) return [];
    const field = at === 0 ? "metadata.spoilerText" : `metadata.thread[${at - 1}].caption`;
    return tooLong(field, length, max, warning === "" ? "" : " together with the content warning");
  });
}
