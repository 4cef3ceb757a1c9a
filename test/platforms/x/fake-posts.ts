import { duplicate, forbidden, invalidRequest, notFound, type Answer } from "./problems.ts";
import type { FakeMedia } from "./fake-media.ts";

export interface FakePost {
  readonly id: string;
  readonly text: string;
  readonly mediaIds: readonly string[];
  readonly replyTo: string | null;
  readonly createdAt: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface NewPost {
  readonly text?: string;
  readonly media?: { readonly media_ids: readonly string[]; readonly preview_media_id?: string };
  readonly reply?: { readonly in_reply_to_tweet_id: string };
  readonly poll?: { readonly options: readonly string[] };
  readonly quote_tweet_id?: string;
}

interface Place {
  readonly now: () => number;
  readonly newId: () => string;
  readonly media: FakeMedia;
  readonly userId: string;
}

/** What everybody can see. */
export class FakePosts {
  readonly all: FakePost[] = [];
  /** A new post stands in listings so long after. */
  lagMs = 5_000;
  readonly #at: Place;
  /** How many posts were read, each of which costs. */
  read = 0;

  constructor(at: Place) {
    this.#at = at;
  }

  /** Those that are no part of another's thread. */
  get heads(): readonly FakePost[] {
    return this.all.filter(({ replyTo }) => replyTo === null);
  }

  create(body: NewPost, isPremium: boolean): Answer {
    const { text = "", media, reply } = body;
    const mediaIds = media?.media_ids ?? [];
    const replyTo = reply?.in_reply_to_tweet_id ?? null;
    const shows = [mediaIds.length > 0, body.poll !== undefined, body.quote_tweet_id !== undefined];
    if (shows.filter(Boolean).length > 1)
      return invalidRequest("media, poll and quote are mutually exclusive.");
    if (body.poll?.options.some((option) => [...option].length > 25) === true)
      return invalidRequest("Poll options must be 25 characters or less.");
    if (text === "" && mediaIds.length === 0) return invalidRequest("A Post needs text or media.");
    if ([...text].length > (isPremium ? 25_000 : 280) && !text.includes("http"))
      return forbidden(
        "Your Tweet text is too long. For more information on how Twitter determines text length see twitter-text.",
      );
    const refusal = this.#at.media.refuses(mediaIds, media?.preview_media_id);
    if (refusal !== null) return refusal;
    if (replyTo !== null && !this.all.some(({ id }) => id === replyTo))
      return forbidden("You attempted to reply to a Tweet that is deleted or not visible to you.");
    if (text !== "" && this.all.some((one) => one.text === text)) return duplicate();
    const id = this.#at.newId();
    this.all.push({ id, text, mediaIds, replyTo, createdAt: this.#at.now(), body: { ...body } });
    return { status: 201, json: { data: { id, text: shortened(text).text, edit_history_tweet_ids: [id] } } };
  }

  list(query: URLSearchParams): Answer {
    const since = Date.parse(query.get("start_time") ?? "1970-01-01T00:00:00Z");
    const from = Number(query.get("pagination_token") ?? "0");
    const count = Number(query.get("max_results") ?? "10");
    const now = this.#at.now();
    const seen = this.all
      .filter(({ createdAt }) => createdAt >= since && createdAt + this.lagMs <= now)
      .toReversed();
    const page = seen.slice(from, from + count);
    this.read += page.length;
    const next = from + count < seen.length ? { next_token: String(from + count) } : {};
    const data = page.map((post) => this.#shown(post, query));
    return {
      status: 200,
      json: { ...(data.length === 0 ? {} : { data }), meta: { result_count: data.length, ...next } },
    };
  }

  show(id: string, query: URLSearchParams): Answer {
    const post = this.all.find((one) => one.id === id);
    if (post === undefined) return notFound(id);
    this.read += 1;
    const media = post.mediaIds.map((mediaId) => ({
      media_key: this.#at.media.all.get(mediaId)?.key,
      public_metrics: { view_count: 90 },
    }));
    return {
      status: 200,
      json: { data: this.#shown(post, query), ...(media.length === 0 ? {} : { includes: { media } }) },
    };
  }

  remove(id: string): Answer {
    const at = this.all.findIndex((one) => one.id === id);
    if (at < 0) return notFound(id);
    this.all.splice(at, 1);
    return { status: 200, json: { data: { deleted: true } } };
  }

  #shown({ id, text, mediaIds, createdAt, body }: FakePost, query: URLSearchParams): object {
    const fields = (query.get("tweet.fields") ?? "").split(",");
    const short = shortened(text);
    const links = mediaIds.length === 0 ? "" : `${text === "" ? "" : " "}https://t.co/m${id.slice(-9)}`;
    const mediaUrl = {
      url: `https://t.co/m${id.slice(-9)}`,
      expanded_url: `https://x.com/horn/status/${id}/photo/1`,
      display_url: "pic.x.com/abc",
      media_key: this.#at.media.all.get(mediaIds[0] ?? "")?.key,
    };
    const quoteUrl = {
      url: `https://t.co/q${id.slice(-9)}`,
      expanded_url: `https://twitter.com/bob/status/${body["quote_tweet_id"]}`,
      display_url: "twitter.com/bob/status/1…",
    };
    const isQuote = body["quote_tweet_id"] !== undefined;
    const whole = `${escaped(short.text)}${links}${isQuote ? ` ${quoteUrl.url}` : ""}`;
    const entities = {
      urls: [...short.urls, ...(links === "" ? [] : [mediaUrl]), ...(isQuote ? [quoteUrl] : [])],
    };
    const isLong = [...text].length > 280;
    const every: Record<string, unknown> = {
      created_at: new Date(createdAt).toISOString(),
      entities: isLong ? {} : entities,
      ...(isLong ? { note_tweet: { text: escaped(short.text), entities: { urls: short.urls } } } : {}),
      ...(mediaIds.length === 0
        ? {}
        : { attachments: { media_keys: mediaIds.map((one) => this.#at.media.all.get(one)?.key) } }),
      public_metrics: METRICS,
      non_public_metrics: {
        impression_count: 100,
        url_link_clicks: 4,
        user_profile_clicks: 1,
        engagements: 9,
      },
    };
    return {
      id,
      text: isLong ? `${whole.slice(0, 270)}…` : whole,
      edit_history_tweet_ids: [id],
      ...Object.fromEntries(Object.entries(every).filter(([name]) => fields.includes(name))),
    };
  }
}

const METRICS = {
  impression_count: 100,
  like_count: 5,
  reply_count: 2,
  retweet_count: 3,
  quote_count: 1,
  bookmark_count: 7,
};

function shortened(text: string): { text: string; urls: object[] } {
  const urls: object[] = [];
  const short = text.replaceAll(/(?:https?:\/\/)?[\w.-]+\.(?:com|org)\b[\w/?=&-]*/g, (address) => {
    const url = `https://t.co/u${urls.length}${address.length}`;
    const expanded = address.startsWith("http") ? address : `http://${address}`;
    urls.push({ start: 0, end: 23, url, expanded_url: expanded, display_url: address });
    return url;
  });
  return { text: short, urls };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
