import { SECOND } from "../../../src/domain/time.ts";
import type { Part } from "./spec.ts";

/** Seconds after its time at which Tumblr publishes what is scheduled. */
const PUBLISHES_AFTER_MS = 40 * SECOND;
/** So long it works on a film. */
const TRANSCODING_MS = 12 * SECOND;

export interface FakePost {
  /** It gets another one whenever it becomes public that was not. */
  id: string;
  genesis: string | null;
  readonly blog: string;
  state: "published" | "queued" | "transcoding" | "draft" | "private";
  fields: any;
  /** When it became public, milliseconds; null: it is not. */
  publicAt: number | null;
  publishOn: number | null;
  readyAt: number;
  isDeleted: boolean;
}

/** A refusal: the HTTP status and Tumblr's own code. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, title: string) {
    super(title);
    this.status = status;
    this.code = code;
  }
}

/** Everything that stands on Tumblr. */
export class FakeBlogs {
  readonly posts: FakePost[] = [];
  /** Files that came, by their part's name, of every request. */
  readonly files: Part[] = [];
  /** It never publishes what is scheduled. */
  isAsleep = false;
  readonly #now: () => number;
  #nextId = 667_310_229_437_005_824n;

  constructor(now: () => number) {
    this.#now = now;
  }

  newId(): string {
    this.#nextId += 65_537n;
    return String(this.#nextId);
  }

  /** What happened by itself until now. */
  catchUp(): void {
    const now = this.#now();
    for (const post of this.posts) {
      if (post.isDeleted || post.readyAt > now) continue;
      if (post.state === "transcoding") this.#publish(post, post.readyAt);
      const dueAt = post.publishOn === null ? Infinity : post.publishOn + PUBLISHES_AFTER_MS;
      if (post.state === "queued" && dueAt <= now && !this.isAsleep) this.#publish(post, dueAt);
    }
  }

  #publish(post: FakePost, at: number): void {
    post.genesis = post.id;
    post.id = this.newId();
    post.state = "published";
    post.publicAt = at;
  }

  visible(): FakePost[] {
    this.catchUp();
    return this.posts.filter(({ isDeleted, state }) => !isDeleted && state === "published");
  }

  find(blog: string, id: string): FakePost {
    const found = this.posts.find((post) => post.blog === blog && post.id === id && !post.isDeleted);
    // A film that is worked on is in no list and under no id.
    if (found === undefined || found.state === "transcoding") throw new Refusal(404, 0, "Not Found");
    return found;
  }

  create(blog: string, body: any, files: readonly Part[]): FakePost {
    const fields = this.#stored(body, files);
    const now = this.#now();
    const hasFilm = fields.content.some(({ type }: any) => type === "video");
    if (hasFilm && this.posts.some(({ isDeleted, readyAt }) => !isDeleted && readyAt > now))
      throw new Refusal(403, 8010, "A video is still transcoding.");
    const readyAt = hasFilm ? now + TRANSCODING_MS : now;
    const post: FakePost = {
      id: this.newId(),
      genesis: null,
      blog,
      state: body.state === "queue" ? "queued" : hasFilm ? "transcoding" : body.state,
      fields,
      publicAt: body.state === "published" && !hasFilm ? now : null,
      publishOn: this.#publishOn(body),
      readyAt,
      isDeleted: false,
    };
    this.posts.push(post);
    return post;
  }

  change(post: FakePost, body: any, files: readonly Part[]): void {
    post.fields = this.#stored(body, files);
    if (body.state === "published" && post.state === "queued") this.#publish(post, this.#now());
  }

  #publishOn({ state, publish_on: text }: any): number | null {
    if (text === undefined) return null;
    if (state !== "queue") throw new Refusal(400, 8001, "publish_on is for the queue.");
    const at = Date.parse(text);
    if (!(at > this.#now())) throw new Refusal(400, 8001, "publish_on must be in the future.");
    return at;
  }

  /** Media by the files that came with them, each used once; layouts name all blocks. */
  #stored(body: any, files: readonly Part[]): any {
    const left = new Map(files.map((file) => [file.name, file]));
    const kept = (media: any): any => {
      if (media.identifier === undefined) return media;
      const file = left.get(media.identifier);
      if (file === undefined || file.type !== media.type || file.fileName === null)
        throw new Refusal(400, 8005, `There is no file ${media.identifier} of this type.`);
      left.delete(media.identifier);
      this.files.push(file);
      const { identifier, ...rest } = media;
      return { ...rest, url: `https://64.media.tumblr.com/${this.newId()}/${identifier}` };
    };
    const content = body.content.map((block: any) => {
      if (block.media === undefined) return checkText(block);
      return { ...block, media: Array.isArray(block.media) ? block.media.map(kept) : kept(block.media) };
    });
    if (left.size > 0) throw new Refusal(400, 8001, "A file belongs to no block.");
    checkCounts(content);
    checkLayout(body.layout ?? [], content);
    return { ...body, content };
  }
}

function checkText(block: any): any {
  const length = [...(block.text ?? "")].length;
  for (const { start, end, url } of block.formatting ?? []) {
    if (end > length || start >= end) throw new Refusal(400, 8001, "A format lies outside of its text.");
    const words = [...block.text].slice(start, end).join("");
    // Words may lead anywhere, an address only to itself.
    if (url !== undefined && /^https?:/.test(words) && words !== url)
      throw new Refusal(400, 8001, "Not that link.");
  }
  return block;
}

function checkCounts(content: readonly any[]): void {
  const limits = { image: 30, video: 1, audio: 10, link: 10 };
  for (const [type, limit] of Object.entries(limits))
    if (content.filter((block) => block.type === type).length > limit)
      throw new Refusal(400, 8001, `There are too many ${type} blocks.`);
}

function checkLayout([rows]: readonly any[], content: readonly any[]): void {
  if (rows === undefined) return;
  const named: number[] = rows.display.flatMap(({ blocks }: any) => blocks);
  const isWhole = named.join() === content.map((_block, at) => at).join();
  const isGallery = rows.display.every(
    ({ blocks }: any) => blocks.length === 1 || blocks.every((at: number) => content[at].type === "image"),
  );
  if (!isWhole || !isGallery) throw new Refusal(400, 8001, "The layout does not fit the blocks.");
}
