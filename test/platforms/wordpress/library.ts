import type { Described } from "../../support/described.ts";
import { refuse } from "./requests.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";

export interface FakePost {
  readonly id: number;
  slug: string;
  status: string;
  dateMs: number;
  modifiedMs: number;
  title: string;
  content: string;
  excerpt: string;
  featured_media: number;
  categories: number[];
  tags: number[];
  comment_status: string;
}

export interface FakeFile {
  readonly id: number;
  readonly slug: string;
  readonly post: number;
  readonly name: string;
  readonly size: number;
  readonly alt: string;
}

const MINUTE_MS = 60_000;

/** Types that WordPress takes, by the ending of the name and by what the bytes say. */
const TYPES: Readonly<Record<string, RegExp>> = {
  jpg: /^\xff\xd8/,
  png: /^\x89PNG/,
  gif: /^GIF8/,
  webp: /^RIFF/,
  mp4: /^....ftyp/s,
};

/** Posts, files and terms of a site, with WordPress's own rules. */
export function createLibrary(now: () => number) {
  const posts: FakePost[] = [];
  const files: FakeFile[] = [];
  const tags = [{ id: 7, name: "Old &amp; gold" }];
  const categories = [
    { id: 1, name: "Uncategorized" },
    { id: 4, name: "News &amp; views" },
  ];
  let last = 10;
  const nextId = () => (last += 1);

  /** Within its kind; drafts have theirs made unique too. */
  const uniqueSlug = (slug: string, taken: readonly { id: number; slug: string }[], id = 0): string => {
    const isTaken = (one: string) => taken.some((other) => other.id !== id && other.slug === one);
    let unique = slug;
    for (let n = 2; isTaken(unique); n += 1) unique = `${slug}-${n}`;
    return unique;
  };

  /** What is scheduled for less than a minute ahead is published now, what is published with a later date waits. */
  const settleStatus = (post: FakePost): void => {
    const aheadMs = post.dateMs - Math.floor(now() / 1_000) * 1_000;
    if (post.status === "publish" && aheadMs >= MINUTE_MS) post.status = "future";
    else if (post.status === "future" && aheadMs < MINUTE_MS) post.status = "publish";
  };

  const write = (post: FakePost, { given }: Pick<Described, "given">): FakePost => {
    const wasUndated = post.status === "draft" && given["date_gmt"] === undefined;
    for (const name of ["title", "content", "excerpt", "status", "comment_status"] as const)
      if (given[name] !== undefined) post[name] = given[name];
    if (given["slug"] !== undefined) post.slug = uniqueSlug(given["slug"], posts, post.id);
    if (given["date_gmt"] !== undefined) post.dateMs = Date.parse(`${given["date_gmt"]}Z`);
    else if (wasUndated && post.dateMs <= now()) post.dateMs = now();
    // What it does not know it drops without a word.
    const known = (ids: number[], all: readonly { id: number }[]) =>
      ids.filter((id) => all.some((one) => one.id === id));
    if (given["categories"] !== undefined) {
      const ids = known(given["categories"], categories);
      post.categories = ids.length === 0 ? [1] : ids;
    }
    if (given["tags"] !== undefined) post.tags = known(given["tags"], tags);
    if (files.some(({ id }) => id === given["featured_media"])) post.featured_media = given["featured_media"];
    post.modifiedMs = now();
    settleStatus(post);
    return post;
  };

  return {
    posts,
    files,
    tags,
    categories,
    create: (request: Pick<Described, "given">): FakePost => {
      const post: FakePost = {
        ...{ id: nextId(), slug: "", status: "draft", title: "", content: "", excerpt: "" },
        ...{ dateMs: now(), modifiedMs: now(), featured_media: 0, categories: [1], tags: [] },
        comment_status: "open",
      };
      posts.push(post);
      return write(post, request);
    },
    write,
    /** WP-Cron: what is due goes out. */
    runCron(): void {
      for (const post of posts) if (post.status === "future" && post.dateMs <= now()) post.status = "publish";
    },
    trash(post: FakePost): void {
      post.status = "trash";
      post.slug += "__trashed";
    },
    async upload({ given }: Described, maxBytes: number): Promise<FakeFile | OutboundResponse> {
      const { file } = given;
      const bytes = Buffer.from(await file.arrayBuffer());
      const type = TYPES[file.name.split(".").at(-1) ?? ""];
      const isTaken = type?.test(bytes.subarray(0, 16).toString("latin1")) === true;
      if (!isTaken || bytes.length > maxBytes) return refuse(500, "rest_upload_unknown_error");
      const slug = uniqueSlug(given["slug"] ?? file.name, files);
      const stored = { id: nextId(), slug, post: given["post"] ?? 0, name: file.name, size: bytes.length };
      files.push({ ...stored, alt: given["alt_text"] ?? "" });
      return files.at(-1)!;
    },
    tag(name: string): { id: number; isNew: boolean } {
      const escaped = name.replaceAll("&", "&amp;");
      const known = tags.find((one) => one.name.toLowerCase() === escaped.toLowerCase());
      if (known !== undefined) return { id: known.id, isNew: false };
      const id = nextId();
      tags.push({ id, name: escaped });
      return { id, isNew: true };
    },
  };
}

/** A text as readers see it: WordPress's typography, short codes and smileys, then the browser's entities. */
export function shownText(content: string): string {
  const inText = (text: string) =>
    text
      .replace(/\[(gallery|audio|video|caption)[^\]]*\]/g, "")
      .replace(/"([^"]*)"/g, "“$1”")
      .replaceAll("'", "’")
      .replaceAll("--", "–")
      .replaceAll("...", "…")
      .replace(/(\d)x(\d)/g, "$1×$2")
      .replace(/(?<!\S):\)(?!\S)/g, "🙂");
  return content
    .replace(/<!--.*?-->\n?/gs, "")
    .split(/(<[^>]*>)/)
    .map((part) => (part.startsWith("<") ? part.replace(/^<br.*/, "\n") : inText(part)))
    .join("")
    .replace(/<[^>]*>/g, "")
    .replace(/&#(\d+);/g, (_whole, code) => String.fromCodePoint(Number(code)));
}
