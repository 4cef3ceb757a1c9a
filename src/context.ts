import type { Caller } from "./domain/permissions.ts";
import type { Cipher } from "./domain/cipher.ts";
import type { Clock } from "./ports/clock.ts";
import type { FeedStorage } from "./ports/feed-storage.ts";
import type { FileStore } from "./ports/file-store.ts";
import type { FilmConverter } from "./ports/film-converter.ts";
import type { Logger } from "./ports/logger.ts";
import type { Mailer } from "./ports/mailer.ts";
import type { MediaProbe } from "./ports/media-probe.ts";
import type { MediaSource, PublicMedia } from "./ports/media.ts";
import type { Outbound } from "./ports/outbound.ts";
import type { Sockets } from "./ports/sockets.ts";
import type { AnyPlatform } from "./ports/platform.ts";
import type { Said } from "./domain/sentences.ts";
import type { Store, Tx } from "./store/engine/store.ts";

/**
 * Calls that count are asked about: never; where the client can put the question to a person; everywhere, if
 * need be by a token.
 */
export type ConfirmPolicy = "never" | "risky" | "always";

/** The settings that use cases read; `Config` has them and more. */
interface ServiceSettings {
  readonly timezone: string;
  readonly maxLatenessMs: number;
  /** Folders below which `upload_file` may read a `path`; null: those that a person usually has. */
  readonly uploadFolders: readonly string[] | null;
  /** Where those are. Default: this user's home folder. */
  readonly homeFolder?: string;
  /** When a person confirms a tool's call first; default: `risky`. */
  readonly confirm?: ConfirmPolicy;
  readonly platformSettings: Readonly<Record<string, string>>;
  /** Where others reach it, as it was set; null: on loopback, at `port`. */
  readonly publicUrl?: string | null;
  /** For so long figures of live posts are kept; default: two years. */
  readonly resultsRetentionMs?: number;
  /** Called each minute while publishing works; null or missing: none. Its path may be a secret. */
  readonly heartbeatUrl?: string | null;
  /** The page at `/app` is served; default: true. */
  readonly hasPage?: boolean;
  /** As it was set; a listener of stdio takes another where it is not free. */
  readonly port?: number;
}

/**
 * Everything a use case works with; built once by `createContext` (`src/app/compose.ts`).
 */
export interface AppContext {
  readonly settings: ServiceSettings;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly cipher: Cipher;
  readonly outbound: Outbound;
  readonly sockets: Sockets;
  /** Null: no mail server is set. */
  readonly mailer: Mailer | null;
  readonly files: FileStore;
  readonly media: MediaSource;
  readonly publicMedia: PublicMedia;
  readonly probe: MediaProbe;
  /** Null: films are not converted (`POSTHORN_FFMPEG=off`). */
  readonly films: FilmConverter | null;
  readonly feed: FeedStorage;
  readonly platforms: ReadonlyMap<string, AnyPlatform>;
  /** This process among those on the data folder. */
  readonly workerId: string;
  /**
   * Address of our own pages, without a slash at its end. Over stdio it opens the loopback listener when
   * first asked.
   */
  publicUrl(): Promise<string>;
  /** A text of ours as programs are told it: what leads on, in tools and their arguments. */
  inWords(said: Said): string;
  /** Aborted when this process begins to end: what only waits stops then. Missing: that is told nowhere. */
  readonly ending?: AbortSignal;
  /**
   * Wakes the publisher of this process after a write that may make a post due; others see it at their next
   * tick.
   */
  wakePublisher(): void;
}

/** What is looked after in processes that publish, whether or not anything is posted. */
export interface MaintenanceJob {
  /** For the log. */
  readonly name: string;
  readonly everyMs: number;
  run(ctx: AppContext, signal: AbortSignal): Promise<void>;
}

/** What a tool's handler gets beside its arguments. */
export interface CallContext {
  readonly ctx: AppContext;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Tells a client that asked for it how far a long call is; null: its length is not known. */
  progress(done: number, total: number | null, message: string): void;
  /**
   * Whether a warning names the zone in which a time without an offset was read. Programs need it, agents and people
   * were told the zone before.
   */
  readonly tellsZone: boolean;
  /** Arguments that came as null or an empty text, and so count as left out. Missing: none. */
  readonly leftEmpty?: readonly string[];
  /**
   * Over MCP, the program that called, for tools that ask it for something; not for those with a `question`.
   */
  readonly client?: CallingClient;
  /**
   * Takes what a question is about, whole: its text is cut, and a yes holds for no more than it was asked about. Set
   * while a question is made.
   */
  noteShown?(what: unknown): void;
  /**
   * Set when the call carries an idempotency key: writes the result in the same transaction as its effect.
   */
  readonly idempotency: IdempotencyClaim | null;
}

/** Of a visitor who came by a signed address or a link, with no key of ours. */
export type GuestCall = Pick<CallContext, "ctx" | "signal" | "idempotency">;

/** A call that does not come through a tool and carries no idempotency key. */
export function plainCall(ctx: AppContext, caller: Caller, signal?: AbortSignal): CallContext {
  return { ...guestCall(ctx, signal), caller, progress: () => {}, tellsZone: false };
}

export function guestCall(ctx: AppContext, signal = new AbortController().signal): GuestCall {
  return { ctx, signal, idempotency: null };
}

export interface IdempotencyClaim {
  readonly keyHash: string;
  complete(tx: Tx, result: unknown): Promise<void>;
}

/**
 * What the program that called can be asked for: a form for its user, a text by its model, the folders that
 * it works in.
 */
export type Inquiry =
  | {
      readonly kind: "form";
      /** Plain text above the fields. */
      readonly message: string;
      /** JSON Schema of an object without nested objects. */
      readonly schema: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly prompt: string; readonly maxTokens: number }
  | { readonly kind: "folders" };

export type InquiryKind = Inquiry["kind"];

/** Comes from outside: only its shape was checked. */
export type Reply =
  | {
      readonly kind: "form";
      readonly action: "accept" | "decline" | "cancel";
      /** Empty unless accepted. */
      readonly content: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "folders"; readonly uris: readonly string[] };

export type Inquiries = Readonly<Record<string, Inquiry>>;
export type Replies<T extends Inquiries> = {
  readonly [Name in keyof T]: Extract<Reply, { kind: T[Name]["kind"] }>;
};

/** The program that called, while its call is under way. */
export interface CallingClient {
  canAnswer(kind: InquiryKind): boolean;
  /**
   * The replies to all of these. Where some are still missing it throws, the client is asked, and the handler
   * runs again from its top with all replies so far: ask before anything is changed, and let nothing that was
   * thrown be caught. Refuses the call of a client that cannot answer. The names `confirm` and `open` are
   * taken.
   */
  ask<T extends Inquiries>(inquiries: T): Replies<T>;
}
