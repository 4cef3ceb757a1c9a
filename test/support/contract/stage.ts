import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { Json, JsonObject } from "../../../src/ports/platform-io.ts";
import type { PostRow, Tables } from "../../../src/store/schema/tables.ts";
import type { TestContext } from "../context.ts";

/** A platform with a connected account and somewhere to look at what it shows. */
export interface Stage extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly account: Tables["accounts"];
  /** How many posts everybody can see on the platform; a thread or an album is one. */
  published(): Promise<number>;
  /** The text of each of them as a reader sees it, without the platform's markup. */
  captions(): Promise<readonly string[]>;
  /** What the platform would not have taken of the requests, by its description. */
  readonly wrong?: readonly string[];
  /** Nobody can find out there what became of a lost answer. */
  readonly isBlind?: boolean;
}

/** What goes wrong with one request; `pass` sends it on. */
export type Trouble = (
  pass: () => Promise<OutboundResponse>,
  request: OutboundRequest,
) => Promise<OutboundResponse>;

/** A post as it is scheduled. */
export interface StagePost {
  readonly caption: string;
  readonly media_url: string;
  readonly metadata: Readonly<Record<string, Json>>;
}

type AnswerTo = (...asked: Parameters<Trouble>) => OutboundResponse | Promise<OutboundResponse>;

/** How a platform refuses a post, and how that is told. */
export interface Refusals {
  /** Its answers to what would change something. */
  readonly told: readonly (readonly [words: RegExp, answer: AnswerTo])[];
  /** Only where the address matches. */
  readonly at?: RegExp;
  /** What becomes of the post; default: it fails. "waits": it goes out once nothing is refused any more. */
  readonly end?: "failed" | "waits" | "reconnect";
  /** What the post has otherwise than the whole one. */
  readonly post?: Partial<StagePost>;
}

/** How the contract is tried on a platform; `test/platforms/<name>/stage.ts` exports one by default. */
export interface PlatformFixture {
  /** A fresh stage on which the given platform plays the one under test. */
  openStage(platform: AnyPlatform): Promise<Stage>;
  /** A post with everything that makes a step of its own: media, more media, a thread. */
  readonly post: StagePost;
  /** Other kinds of posts that take another way through the platform: text alone, a film, a story. */
  readonly otherPosts?: Readonly<Record<string, StagePost>>;
  /** How long a text of one-byte letters may be with the post's media; default: as its capabilities say. */
  readonly captionLimit?: number;
  /** How long one in Markdown may be, where it is less: what it looks like may take room beside it. */
  readonly markdownLimit?: number;
  /** Signs that it takes in no text and has no way to write otherwise: a text with one is refused. */
  readonly refusedText?: string;
  /** What this platform answers in a way of its own: "meets a limit", "meets a broken server", and more. */
  readonly troubles?: Readonly<Record<string, Trouble>>;
  /** How it refuses a token; default: 401. Null: it has none that could end. */
  readonly refusesToken?: Trouble | null;
  /** What it refuses, in its own words. */
  readonly refusals?: readonly Refusals[];
  /** What is refused when it is scheduled, and how that is told; of the post all is given but a text. */
  readonly unfit?: readonly (readonly [post: PreviewedPost, words: RegExp])[];
  /**
   * What no answer may lack: why, and which keys, from the top of an answer. Dots divide names, those of a list are
   * those of its entries. Every other key is one that a server, or another version of it, may leave out: posts and
   * what is asked of them work all the same.
   */
  readonly needed: Readonly<Record<string, readonly string[]>>;
  /**
   * By way: what a consent asks for where a person wants nothing more. A list may lose scopes and never gains one:
   * a platform refuses the whole consent to an app that was registered before. What is new stands in `askedOnlyWhen`.
   */
  readonly scopes?: Readonly<Record<string, readonly string[]>>;
  /** What its way "more" asks for besides, and when a person wants that. */
  readonly askedOnlyWhen?: Readonly<Record<string, string>>;
  /** What becomes of its options that not everybody has, for an account of which this is known. */
  readonly gated?: readonly (readonly [
    metadata: Readonly<Record<string, Json>>,
    of: { readonly scopes?: readonly string[]; readonly limits?: JsonObject; readonly plan?: string },
    verdict: "refused" | "warned" | "taken",
  ])[];
  /** Its title belongs to something else than the text, a link card say. */
  readonly isTitleApart?: true;
  /** How it shows posts in a way of its own. */
  readonly previews?: Readonly<Record<string, { readonly post: PreviewedPost; readonly shown: object }>>;
}

/** A post that may not be finished. */
export interface PreviewedPost {
  readonly caption?: string;
  readonly mediaUrl?: string;
  readonly metadata?: Readonly<Record<string, Json>>;
}

/** Posts that are unfit for what their metadata has, beside these media. */
export function unfitWith(
  mediaUrl: string,
  rows: readonly (readonly [metadata: JsonObject, words: RegExp, caption?: string])[],
): NonNullable<PlatformFixture["unfit"]> {
  return rows.map(([metadata, words, caption = "A horn"]) => [{ caption, mediaUrl, metadata }, words]);
}

export function neededKeys({ needed }: PlatformFixture): readonly string[] {
  return Object.values(needed).flat();
}

/** What `addPost` takes of it. */
export function contentOf(post: StagePost): Partial<PostRow> {
  return { ...post, metadata: JSON.stringify(post.metadata) };
}
