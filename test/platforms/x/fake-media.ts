import { forbidden, invalidRequest, type Answer } from "./problems.ts";

interface FakeMedium {
  readonly id: string;
  readonly key: string;
  readonly category: string;
  readonly type: string;
  readonly totalBytes: number;
  readonly segments: Map<number, number>;
  readonly sessionEndsAt: number;
  /** Null until it is whole. */
  expiresAt: number | null;
  /** How often it is asked about before it is ready; none of images. */
  pollsLeft: number;
  /** Not to be asked about before. */
  askFrom: number;
  isBroken: boolean;
  altText: string | null;
  /** What was sent, where it is kept: of subtitles. */
  text: string;
  readonly subtitles: { readonly language: string; readonly name: string; readonly text: string }[];
}

interface SubtitlesRequest {
  readonly id: string;
  readonly media_category?: string;
  readonly subtitles?: {
    readonly id?: string;
    readonly language_code?: string;
    readonly display_name?: string;
  };
}

const DAY_MS = 86_400_000;
const MAX_BYTES: Readonly<Record<string, number>> = {
  tweet_image: 5 * 1_048_576,
  tweet_gif: 15 * 1_048_576,
  tweet_video: 512 * 1_048_576,
  amplify_video: 512 * 1_048_576,
  subtitles: 1_048_576,
};

const PROCESSED_AT_ONCE: readonly string[] = ["tweet_image", "subtitles"];

/** The description's bounds of segment_index. */
const MAX_SEGMENTS = 1_000;

/** What was uploaded, and for how long X keeps it. */
export class FakeMedia {
  readonly all = new Map<string, FakeMedium>();
  /** Sizes of the segments that came, the repeated ones too. */
  readonly segments: number[] = [];
  /** What a client must not do. */
  readonly wrong: string[] = [];
  polls = 2;
  checkAfterSecs = 3;
  isBreaking = false;
  /** Answers may be lost on their way: a client cannot keep to what it was never told. */
  losesAnswers = false;
  readonly #now: () => number;
  readonly #newId: () => string;

  constructor(now: () => number, newId: () => string) {
    this.#now = now;
    this.#newId = newId;
  }

  begin(given: { media_category?: string; media_type?: string; total_bytes?: number }): Answer {
    const { media_category: category = "", media_type: type = "", total_bytes: totalBytes = 0 } = given;
    const kind = category.endsWith("video") ? "video/" : category === "subtitles" ? "text/srt" : "image/";
    const isFit = type.startsWith(kind);
    if (!isFit || totalBytes < 1 || totalBytes > (MAX_BYTES[category] ?? 0))
      return invalidRequest(`${category} of ${type} with ${totalBytes} bytes`);
    const id = this.#newId();
    const key = `${category === "tweet_image" ? 3 : category === "tweet_gif" ? 16 : 13}_${id}`;
    this.all.set(id, {
      id,
      key,
      category,
      type,
      totalBytes,
      segments: new Map(),
      sessionEndsAt: this.#now() + DAY_MS,
      expiresAt: null,
      pollsLeft: PROCESSED_AT_ONCE.includes(category) ? 0 : this.polls,
      askFrom: 0,
      isBroken: false,
      altText: null,
      text: "",
      subtitles: [],
    });
    return { status: 200, json: { data: { id, media_key: key, expires_after_secs: 1_295_999 } } };
  }

  append(id: string, index: number, content: string): Answer {
    const sizeBytes = content.length;
    const medium = this.all.get(id);
    const isOpen = medium !== undefined && medium.expiresAt === null && medium.sessionEndsAt > this.#now();
    if (!isOpen || sizeBytes < 1 || sizeBytes > 5 * 1_048_576) return invalidRequest("Invalid segment");
    if (index >= MAX_SEGMENTS) return invalidRequest("segment_index");
    medium.segments.set(index, sizeBytes);
    if (medium.category === "subtitles") medium.text = Buffer.from(content, "latin1").toString("utf8");
    this.segments.push(sizeBytes);
    return { status: 200, json: { data: { expires_at: Math.floor(medium.sessionEndsAt / 1_000) } } };
  }

  finalize(id: string): Answer {
    const medium = this.all.get(id);
    if (medium === undefined || medium.expiresAt !== null) return invalidRequest("Invalid media id");
    const sizes = [...medium.segments].toSorted(([a], [b]) => a - b);
    const isWhole = sizes.every(([index], at) => index === at);
    const size = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    if (!isWhole || size !== medium.totalBytes)
      return invalidRequest("Segments do not add up to provided total file size.");
    medium.expiresAt = this.#now() + DAY_MS;
    return { status: 200, json: { data: { ...this.#shown(medium), expires_after_secs: 86_400 } } };
  }

  status(id: string): Answer {
    const medium = this.all.get(id);
    if (medium === undefined || medium.expiresAt === null) return invalidRequest("Invalid media id");
    if (medium.pollsLeft === 0 && !this.losesAnswers) this.wrong.push("STATUS of what is ready");
    if (this.#now() < medium.askFrom && !this.losesAnswers) this.wrong.push("STATUS before check_after_secs");
    medium.pollsLeft = Math.max(0, medium.pollsLeft - 1);
    if (medium.pollsLeft === 0 && this.isBreaking) medium.isBroken = true;
    return { status: 200, json: { data: this.#shown(medium) } };
  }

  #shown(medium: FakeMedium): object {
    const { id, key, category, totalBytes, pollsLeft, isBroken } = medium;
    const state = isBroken ? "failed" : pollsLeft > 0 ? "in_progress" : "succeeded";
    const isAsked = state === "in_progress";
    const info = isAsked ? { state, check_after_secs: this.checkAfterSecs, progress_percent: 50 } : { state };
    if (isAsked) medium.askFrom = this.#now() + this.checkAfterSecs * 1_000;
    const processing = PROCESSED_AT_ONCE.includes(category) ? {} : { processing_info: info };
    return { id, media_key: key, size: totalBytes, ...processing };
  }

  describe({ id, metadata }: { id: string; metadata?: { alt_text?: { text: string } } }): Answer {
    const medium = this.#ready(id);
    if (medium === null || medium.category.endsWith("video")) return invalidRequest("Invalid media id");
    medium.altText = metadata?.alt_text?.text ?? null;
    return { status: 200, json: { data: { id, associated_metadata: metadata ?? {} } } };
  }

  subtitle({ id, media_category: category, subtitles }: SubtitlesRequest): Answer {
    const video = this.#ready(id);
    const track = this.#ready(subtitles?.id ?? "");
    const name = { tweet_video: "TweetVideo", amplify_video: "AmplifyVideo" }[video?.category ?? ""];
    const { language_code: language = "", display_name: display = "" } = subtitles ?? {};
    if (
      video === null ||
      name !== category ||
      track?.category !== "subtitles" ||
      language === "" ||
      display === ""
    )
      return invalidRequest("Invalid subtitles");
    const others = video.subtitles.filter((one) => one.language !== language);
    video.subtitles.splice(0, video.subtitles.length, ...others, {
      language,
      name: display,
      text: track.text,
    });
    return { status: 200, json: { data: { id, media_category: category } } };
  }

  #ready(id: string): FakeMedium | null {
    const medium = this.all.get(id);
    const isThere = medium !== undefined && (medium.expiresAt ?? 0) > this.#now();
    return isThere && medium.pollsLeft === 0 && !medium.isBroken ? medium : null;
  }

  /** Why a post cannot have these; null where it can. */
  refuses(ids: readonly string[], previewId: string | undefined): Answer | null {
    const media = ids.map((id) => this.#ready(id));
    if (media.includes(null)) return invalidRequest("Your media IDs are invalid.");
    const isAlone = media.some((medium) => medium?.category !== "tweet_image");
    if (isAlone && ids.length > 1) return forbidden("Only one video or GIF may be attached to a Post.");
    const isVideo = media[0]?.category.endsWith("video") ?? false;
    const isPreview =
      previewId === undefined || (isVideo && this.#ready(previewId)?.category === "tweet_image");
    return isPreview ? null : invalidRequest("Invalid preview_media_id");
  }
}
