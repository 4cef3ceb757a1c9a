import type { PublishIo } from "../../ports/publish-io.ts";
import { itemsOf, type PostItem } from "../shared/media/items.ts";
import { KIND, type Draft } from "./event.ts";
import { sendFile, type Stored } from "./files.ts";
import { formatOf, mediaErrors, type NostrPost } from "./metadata.ts";
import { AppError } from "../../domain/errors.ts";
import { keyIn } from "./names.ts";

/** A file of a post with what is told of it. */
interface Shown {
  readonly file: Stored;
  readonly altText: string | null;
}

/** The files of a post: those of each of its parts, and the picture in front. */
export interface Files {
  readonly parts: readonly (readonly Shown[])[];
  readonly cover: Stored | null;
}

/** Opens everything before anything is sent, so that what cannot be posted is refused as a whole. */
export async function sendFiles(post: NostrPost, io: PublishIo): Promise<Files> {
  const { thread = [], thumbnailUrl } = post.metadata;
  const rest = thread.map(({ mediaUrl, altText }): PostItem[] =>
    mediaUrl === undefined ? [] : [{ url: mediaUrl, altText: altText ?? null }],
  );
  const opened = [];
  for (const items of [itemsOf(post), ...rest]) {
    const part = [];
    for (const { url, altText } of items) part.push(await io.media.item(url, altText));
    opened.push(part);
  }
  const types = (opened[0] ?? []).map(({ facts }) => facts.type);
  const [problem] = mediaErrors(formatOf(post), types);
  if (problem !== undefined) throw new AppError("invalid", problem);
  const cover = thumbnailUrl === undefined ? null : await io.media.item(thumbnailUrl);
  const parts: Shown[][] = [];
  for (const [at, items] of opened.entries()) {
    const shown: Shown[] = [];
    for (const item of items) {
      const file = await sendFile(io, `${at + 1}.${shown.length + 1}`, item);
      shown.push({ file, altText: item.altText });
    }
    parts.push(shown);
  }
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
    case "article":
      return {
        ...at,
        kind: KIND.article,
        content: text,
        tags: [
          ["d", post.id],
          published(now),
          ...(cover === null ? [] : [["image", cover.url]]),
          ...articleTags(post),
        ],
      };
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
function withFiles(text: string, shown: readonly Shown[]): string {
  const urls = shown.map(({ file }) => file.url).join("\n");
  return [text, urls].filter((part) => part !== "").join("\n\n");
}

/** https://github.com/nostr-protocol/nips/blob/master/92.md */
function fileTag({ file, altText }: Shown, cover: Stored | null): string[] {
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
