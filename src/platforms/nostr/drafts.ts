import { createHash } from "node:crypto";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { HOUR } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { type FaultRule, faultsBy, TOO_LARGE_FILE } from "../shared/faults.ts";
import { type FittedFile, fitFile, inOrder, openAll } from "../shared/media.ts";
import { repeatableStep } from "../shared/reconcile.ts";
import { partsOf } from "../shared/thread.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { type Draft, keyIn, KIND, type Sign } from "./event.ts";
import { formatOf, mediaErrors, type NostrPost } from "./metadata.ts";
import { ownSign } from "./relays.ts";

/** A file of a post with what is told of it. */
interface PostFile {
  readonly file: StoredFile;
  readonly altText: string | null;
}

/** The files of a post: those of each of its parts, and the picture in front. */
export interface Files {
  readonly parts: readonly (readonly PostFile[])[];
  readonly cover: StoredFile | null;
}

/** Opens everything before anything is sent: what cannot be posted is refused as a whole. */
export async function sendFiles(post: NostrPost, io: PublishIo): Promise<Files> {
  const { thumbnailUrl } = post.metadata;
  const opened = await inOrder(partsOf(post), ({ media }) => openAll(media, io));
  const types = (opened[0] ?? []).map(({ facts }) => facts.type);
  const [problem] = mediaErrors(formatOf(post), types);
  if (problem !== undefined) throw new AppError("invalid", problem);
  const cover = thumbnailUrl === undefined ? null : await io.media.item(thumbnailUrl);
  const parts = await inOrder(opened, (items, part) =>
    inOrder(items, async (item, at) => ({
      file: await sendFile(io, `${part + 1}.${at + 1}`, item),
      altText: item.altText,
    })),
  );
  return { parts, cover: cover === null ? null : await sendFile(io, "thumbnail", cover) };
}

/** The post itself; `now` in seconds since 1970. */
export function draftOf(post: NostrPost, { parts, cover }: Files, now: number): Draft {
  const { metadata, caption } = post;
  const [shown = []] = parts;
  const text = caption ?? "";
  const common = [...contextTags(post), ...topicTags(text, metadata.tags), ...nameTags(text)];
  const titled = metadata.title === undefined ? [] : [["title", metadata.title]];
  const files = shown.map((one) => fileTag(one, cover));
  const at = { created_at: now };
  switch (formatOf(post)) {
    case "note":
      return { ...at, kind: KIND.note, content: withFiles(text, shown), tags: [...files, ...common] };
    case "picture": {
      const types = [...new Set(shown.map(({ file }) => file.mimeType))].map((type) => ["m", type]);
      const hashes = shown.map(({ file }) => ["x", file.sha256]);
      // The title is one of the tags that every picture has.
      const title = titled.length > 0 ? titled : [["title", ""]];
      const tags = [...title, ...files, ...types, ...hashes, ...common];
      return { ...at, kind: KIND.picture, content: text, tags };
    }
    case "video": {
      const { width, height } = shown[0]?.file ?? { width: null, height: null };
      const kind = width !== null && height !== null && height > width ? KIND.shortVideo : KIND.video;
      const alt = shown[0]?.altText ?? null;
      const tags = [...titled, published(now), ...(alt === null ? [] : [["alt", alt]]), ...files, ...common];
      return { ...at, kind, content: text, tags };
    }
    case "article": {
      const image = cover === null ? [] : [["image", cover.url]];
      const tags = [["d", post.id], published(now), ...image, ...articleTags(post)];
      return { ...at, kind: KIND.article, content: text, tags };
    }
  }
}

function published(now: number): string[] {
  return ["published_at", String(now)];
}

/** Those of an article that an edit makes anew. */
export function articleTags(post: NostrPost): string[][] {
  const { title, description, tags } = post.metadata;
  const text = post.caption ?? "";
  return [
    ...(title === undefined ? [] : [["title", title]]),
    ...(description === undefined ? [] : [["summary", description]]),
    ...contextTags(post),
    ...topicTags(text, tags),
    ...nameTags(text),
  ];
}

/** Who begins a thread and what comes right before: https://github.com/nostr-protocol/nips/blob/master/10.md */
interface Before {
  readonly pubkey: string;
  readonly root: string;
  readonly parent: string;
  readonly relay: string;
}

/** The part of a thread that follows as number `at`, from 1. */
export function replyOf(post: NostrPost, { parts }: Files, at: number, before: Before, now: number): Draft {
  const shown = parts[at] ?? [];
  const text = post.metadata.thread?.[at - 1]?.caption ?? "";
  const { root, parent, relay, pubkey } = before;
  const reply = root === parent ? [] : [["e", parent, relay, "reply", pubkey]];
  return {
    created_at: now,
    kind: KIND.note,
    content: withFiles(text, shown),
    tags: [
      ["e", root, relay, "root", pubkey],
      ...reply,
      ["p", pubkey],
      ...shown.map((one) => fileTag(one, null)),
      ...contextTags(post),
      ...topicTags(text, []),
      ...nameTags(text),
    ],
  };
}

/** Apps show a file where its address stands. */
function withFiles(text: string, shown: readonly PostFile[]): string {
  const urls = shown.map(({ file }) => file.url).join("\n");
  return [text, urls].filter((part) => part !== "").join("\n\n");
}

/** https://github.com/nostr-protocol/nips/blob/master/92.md */
function fileTag({ file, altText }: PostFile, cover: StoredFile | null): string[] {
  const { url, mimeType, sha256, sizeBytes, width, height, seconds, type } = file;
  const has: Record<string, string | number | null> = {
    url,
    m: mimeType,
    x: sha256,
    size: sizeBytes,
    dim: width === null || height === null ? null : `${width}x${height}`,
    duration: seconds,
    alt: altText?.replace(/\s+/g, " ") ?? null,
    image: type === "video" ? (cover?.url ?? null) : null,
  };
  return [
    "imeta",
    ...Object.entries(has).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`])),
  ];
}

/** Warnings (NIP-36) and the language (NIP-32). */
function contextTags({ metadata }: NostrPost): string[][] {
  const { sensitive, spoilerText, language } = metadata;
  const isHidden = sensitive === true || spoilerText !== undefined;
  return [
    ...(isHidden ? [["content-warning", spoilerText ?? ""]] : []),
    ...(language === undefined
      ? []
      : [
          ["L", "ISO-639-1"],
          ["l", language.slice(0, 2).toLowerCase(), "ISO-639-1"],
        ]),
  ];
}

function topicTags(text: string, given: readonly string[] = []): string[][] {
  const inText = [...text.matchAll(/(?<![\p{L}\p{N}_/&])#([\p{L}\p{N}_]+)/gu)].map(([, topic = ""]) => topic);
  const all = [...given.map((topic) => topic.replace(/^[#＃]/, "")), ...inText];
  return [...new Set(all.map((topic) => topic.toLowerCase()))].map((topic) => ["t", topic]);
}

/** People hear of posts that name them, and see which are quoted. */
function nameTags(text: string): string[][] {
  const names = [...text.matchAll(/\bnostr:((?:npub|nprofile|note|nevent)1[a-z0-9]+)/g)];
  const tags = names.flatMap(([, name = ""]) => {
    const key = keyIn(name);
    return key === null ? [] : [[key.prefix === "npub" || key.prefix === "nprofile" ? "p" : "q", key.hex]];
  });
  return [...new Map(tags.map((tag) => [tag.join(), tag])).values()];
}

/** Takes files of every key, up to a size. */
const USUAL_SERVER = "https://blossom.primal.net";
const MAX_SERVERS = 4;

const MB = 1_000_000;
export const IMAGE_LIMITS = {
  maxBytes: 10 * MB,
  mimeTypes: ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"],
} as const satisfies ImageLimits;

/** A file on a server for files: https://github.com/hzrd149/blossom/blob/master/buds/02.md */
const StoredFile = z.object({
  url: z.string(),
  sha256: z.string(),
  sizeBytes: z.int(),
  mimeType: z.string(),
  type: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  seconds: z.number().nullable(),
});
type StoredFile = z.infer<typeof StoredFile>;

const Descriptor = z.looseObject({ url: z.url({ protocol: /^https?$/ }), sha256: z.string() });

const TITLE = "The file server";

const refused = (status: number | readonly number[], message: string): FaultRule => ({
  status,
  kind: "rejected",
  message: `${TITLE} ${message}`,
});

const classify = faultsBy({
  title: TITLE,
  codesOf: () => [],
  rules: [
    refused([401, 403], "takes no files of this key. Name another in your Nostr app, under media servers."),
    refused(402, "asks for payment. Name another in your Nostr app, under media servers, or pay it."),
    { ...TOO_LARGE_FILE, message: "is larger than the file server takes. Make it smaller." },
    {
      ...TOO_LARGE_FILE,
      status: 415,
      message: "is of a type that the file server does not take. Give another file.",
    },
  ],
});

const Addresses = z.array(z.string()).catch([]);

/** The account's own servers, then the usual one. */
function serversOf(io: PlatformIo): string[] {
  const own = Addresses.parse(io.account.limits["fileServers"]);
  const all = [...own, io.setting("BLOSSOM_URL") ?? USUAL_SERVER].filter((url) => parseUrl(url) !== null);
  return [...new Set(all.map((url) => new URL(url).origin))].slice(0, MAX_SERVERS);
}

/** Brings a file to the first server that takes it. No one sees it before a post names it. */
async function sendFile(io: PublishIo, name: string, item: MediaItem): Promise<StoredFile> {
  const { type, mimeType, sizeBytes, width, height, body } = await fitFile(item, IMAGE_LIMITS, io);
  const sha256 = Buffer.isBuffer(body) ? createHash("sha256").update(body).digest("hex") : item.facts.sha256;
  const seconds = type === "image" ? null : item.facts.durationSeconds;
  const stored = await repeatableStep(io, {
    step: `upload ${name}`,
    request: { url: item.url },
    send: async () => {
      const url = await upload(io, { sha256, sizeBytes, mimeType, body });
      return { url, sha256, sizeBytes, mimeType, type, width, height, seconds };
    },
    isGone: async ({ url }) => isGone(io, url),
  });
  return StoredFile.parse(stored);
}

interface Upload extends Pick<FittedFile, "sizeBytes" | "mimeType" | "body"> {
  readonly sha256: string;
}

/** Its address. Throws what the first server said that may say otherwise later, else what the first one did. */
async function upload(io: PublishIo, file: Upload): Promise<string> {
  const faults: PlatformFault[] = [];
  for (const server of serversOf(io)) {
    try {
      return await uploadTo(io, server, file);
    } catch (error) {
      if (!(error instanceof PlatformFault)) throw error;
      faults.push(error);
    }
  }
  throw faults.find(({ kind }) => kind !== "rejected") ?? faults[0] ?? new Error("There is no file server.");
}

async function uploadTo(io: PublishIo, server: string, file: Upload): Promise<string> {
  const authorization = await authorize(io, ownSign(io), file.sha256);
  const { url, sha256 } = await io.ask(
    {
      method: "PUT",
      url: `${server}/upload`,
      headers: {
        authorization,
        "content-type": file.mimeType,
        "content-length": String(file.sizeBytes),
        "x-sha-256": file.sha256,
      },
      body: file.body,
      classify,
      // Files are named by their bytes.
      isIdempotent: true,
      ...UPLOAD_TIMES,
    },
    Descriptor,
  );
  if (sha256 !== file.sha256) throw new PlatformFault("rejected", `${TITLE} changed the file.`);
  return url;
}

/** https://github.com/hzrd149/blossom/blob/master/buds/11.md */
async function authorize(io: Pick<PlatformIo, "now">, sign: Sign, sha256: string): Promise<string> {
  const now = Math.floor(io.now() / 1_000);
  const tags = [
    ["t", "upload"],
    ["x", sha256],
    ["expiration", String(now + HOUR / 1_000)],
  ];
  const event = await sign({ kind: KIND.fileAuth, created_at: now, tags, content: "Upload a file" });
  const text = JSON.stringify(event);
  // Of such a length it is the same in every form of base64: older servers want padding, newer ones none.
  const whole = text.padEnd(Math.ceil(text.length / 3) * 3);
  return `Nostr ${Buffer.from(whole).toString("base64url")}`;
}

/** Servers forget what is not paid for. One that refuses to be asked counts as one that has it. */
async function isGone(io: PlatformIo, url: string): Promise<boolean> {
  const { status } = await io.request({
    method: "HEAD",
    url,
    classify: (answer) => (answer.status < 500 ? "ok" : null),
  });
  return status === 404 || status === 410;
}
