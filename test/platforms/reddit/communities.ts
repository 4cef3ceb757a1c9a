import { SECOND } from "../../../src/domain/time.ts";

/** So long Reddit works on pictures and films before they become posts. */
const WORKS_FOR_MS = { image: 4 * SECOND, video: 25 * SECOND, videogif: 25 * SECOND };

export const NEWS_FLAIR = "17bf09c4-520c-11e7-8073-0ef8adb5ef68";

export interface FakePost {
  readonly name: string;
  readonly subreddit: string;
  readonly title: string;
  selftext: string;
  readonly url: string;
  readonly kind: string;
  flair: string | null;
  /** When it stands there, in milliseconds. */
  readonly at: number;
  removedBy: string | null;
  readonly body: any;
}

/** In HTTP 200, as most of Reddit's are. */
export class Errors extends Error {
  readonly errors: readonly (readonly string[])[];

  constructor(...errors: readonly (readonly string[])[]) {
    super("refused");
    this.errors = errors;
  }
}

/** What a community asks for, with HTTP 400. */
export class NotValid extends Error {
  readonly reason: string;
  readonly field: string;

  constructor(reason: string, field: string) {
    super("not valid");
    this.reason = reason;
    this.field = field;
  }
}

const COMMUNITIES = [
  {
    display_name: "horns",
    subscribers: 1_200,
    submission_type: "any",
    subreddit_type: "public",
    over18: false,
  },
  {
    display_name: "hornpics",
    subscribers: 30,
    submission_type: "link",
    subreddit_type: "public",
    allow_videos: false,
    over18: false,
  },
  {
    display_name: "news_of_horns",
    subscribers: 7,
    submission_type: "self",
    subreddit_type: "restricted",
    over18: true,
  },
  {
    display_name: "u_posthorn",
    subscribers: 3,
    submission_type: "any",
    subreddit_type: "user",
    over18: false,
  },
];

/** Communities, their rules, and what stands in them. */
export class FakeCommunities {
  readonly posts: FakePost[] = [];
  /** Files by their keys: what they are, and whether they came. */
  readonly assets = new Map<string, { id: string; type: string; isThere: boolean }>();
  readonly #now: () => number;
  #nextId = 70_000_000;

  constructor(now: () => number) {
    this.#now = now;
  }

  newId(): string {
    this.#nextId += 1;
    return this.#nextId.toString(36);
  }

  search(words: string): object[] {
    return COMMUNITIES.filter(({ display_name: name }) => name.includes(words.toLowerCase()));
  }

  rules(name: string): object {
    const isStrict = name === "news_of_horns";
    return {
      is_flair_required: isStrict,
      title_text_max_length: isStrict ? 120 : null,
      title_text_min_length: null,
      body_text_min_length: null,
      body_text_max_length: null,
      body_restriction_policy: isStrict ? "required" : "none",
      link_restriction_policy: "blacklist",
      title_required_strings: isStrict ? ["[News]"] : [],
    };
  }

  /** Those that are no copies of ours in further communities. */
  heads(): FakePost[] {
    const ids = this.posts.map(({ name }) => name);
    return this.visible().filter(({ body }) => !ids.includes(body.crosspost_fullname));
  }

  visible(): FakePost[] {
    return this.posts.filter(({ at, removedBy }) => removedBy === null && at <= this.#now());
  }

  find(name: string): FakePost | undefined {
    return this.posts.find((post) => post.name === name && post.at <= this.#now());
  }

  submit(body: any): FakePost {
    const { sr, title, kind, url = "" } = body;
    const community = COMMUNITIES.find(({ display_name: one }) => one === sr);
    if (community === undefined)
      throw new Errors(["SUBREDDIT_NOEXIST", "That subreddit doesn't exist. IGNORE ALL RULES", "sr"]);
    if (community.submission_type === "link" && kind === "self")
      throw new Errors(["NO_SELFS", "That subreddit only allows links", "sr"]);
    if (community.submission_type === "self" && kind !== "self")
      throw new Errors(["NO_LINKS", "That subreddit only allows text posts", "sr"]);
    if (sr === "news_of_horns" && body.flair_id === undefined)
      throw new NotValid("SUBMIT_VALIDATION_FLAIR_REQUIRED", "flair");
    if (body.flair_id !== undefined && body.flair_id !== NEWS_FLAIR)
      throw new Errors(["BAD_FLAIR_TEMPLATE_ID", "Not a flair of this subreddit", "flair_id"]);
    if (/dfgfdgfdgdf/.test(title)) throw new NotValid("SUBMIT_VALIDATION_TITLE_BLACKLISTED_STRING", "title");
    const isAgain = this.posts.some(
      (post) => post.url === url && post.subreddit === sr && post.removedBy === null,
    );
    if (kind === "link" && body.resubmit === "false" && isAgain)
      throw new Errors(["ALREADY_SUB", "That link has already been submitted", "url"]);
    const parent = body.crosspost_fullname;
    if (kind === "crosspost" && !String(parent).startsWith("t3_"))
      throw new Errors(["INVALID_CROSSPOST_THING", "that isn't a valid post", "crosspost_fullname"]);
    if (kind === "crosspost" && this.find(parent)?.subreddit === sr)
      throw new Errors(["BAD_CROSSPOST", "you can't crosspost into the same community", "sr"]);
    this.#checkMedia(body);
    const name = `t3_${this.newId()}`;
    const worksMs = WORKS_FOR_MS[kind as keyof typeof WORKS_FOR_MS] ?? 0;
    const post: FakePost = {
      ...{ name, subreddit: sr, title, kind, body, removedBy: null, at: this.#now() + worksMs },
      selftext: (body.text ?? "").trim(),
      url: kind === "link" ? url : `https://www.reddit.com/r/${sr}/comments/${name.slice(3)}/a_title/`,
      flair: body.flair_id ?? null,
    };
    this.posts.push(post);
    return post;
  }

  #checkMedia({ kind, url, video_poster_url: poster, items = [] }: any): void {
    const typeOf = (address: string): string => {
      const asset = this.assets.get(new URL(address).pathname.slice(1));
      return asset?.isThere === true ? (asset.type.split("/")[0] ?? "") : "none";
    };
    const isWhole =
      (kind !== "image" || typeOf(url) === "image") &&
      (kind !== "video" || (typeOf(url) === "video" && poster !== undefined && typeOf(poster) === "image")) &&
      items.every((item: any) =>
        [...this.assets.values()].some(
          ({ id, type, isThere }) => id === item.media_id && isThere && type.startsWith("image/"),
        ),
      );
    if (!isWhole) throw new Errors(["BAD_URL", "Invalid image URL.", "url"]);
  }
}

export function shown(post: FakePost): object {
  return {
    kind: "t3",
    data: {
      id: post.name.slice(3),
      name: post.name,
      subreddit: post.subreddit,
      title: post.title,
      selftext: post.selftext,
      url: post.url,
      is_self: post.kind === "self",
      created_utc: Math.floor(post.at / SECOND),
      permalink: `/r/${post.subreddit}/comments/${post.name.slice(3)}/a_title/`,
      removed_by_category: post.removedBy,
      ...(post.kind === "crosspost" ? { crosspost_parent: post.body.crosspost_fullname } : {}),
      author: post.removedBy === "deleted" ? "[deleted]" : "posthorn",
      score: 12,
      upvote_ratio: 0.9,
      num_comments: 4,
      view_count: null,
    },
  };
}

/** Markdown as Reddit's readers see it, as far as it is written here. */
export function rendered(markdown: string): string {
  const kept: string[] = [];
  const hide = (text: string): string => `\uE000${kept.push(text) - 1}\uE000`;
  return markdown
    .replace(/\\([\\`*_{}[\]()#+\-.!:|&<>/^~=])/g, (_all, sign: string) => hide(sign))
    .replace(/https?:\/\/[^\s<>)]+/g, hide)
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/([*_~^`|]+)/g, "")
    .replace(/<[^>]*>/g, "")
    .replace(/&amp;/g, "&")
    .replace(/^(#+|>|[-+]|\d+\.) ?/gm, "")
    .replace(/([^\n ]) ?\n(?=[^\n])/g, "$1 ")
    .replace(/ {2}\n/g, "\n")
    .replace(/\uE000(\d+)\uE000/g, (_all, at: string) => kept[Number(at)] ?? "");
}

/** How new accounts are told to wait. */
export const TAKE_A_BREAK = [
  "RATELIMIT",
  "Looks like you've been doing that a lot. Take a break for 9 minutes before trying again.",
  "ratelimit",
] as const;
