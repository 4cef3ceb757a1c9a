import type { z } from "zod";
import type { Capabilities } from "../domain/accounts/account.ts";
import type { Insights, Metrics } from "../domain/posts/post.ts";
import type { ConnectIo } from "./connect.ts";
import type { JsonObject, PlatformAccount, PlatformIo, PublishIo } from "./platform-io.ts";

/** A post as a platform file sees it. `M` is its parsed metadata. */
export interface PlatformPost<M = JsonObject> {
  readonly id: string;
  readonly caption: string | null;
  /** "" for a text-only post. */
  readonly mediaUrl: string;
  readonly metadata: M;
  readonly scheduledAt: number;
  readonly leadMinutes: number;
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
}

/**
 * `live`: public now. `held`: on the platform, private. `prepared`: nothing public yet. `processing`: ask
 * again later.
 */
export type PublishOutcome =
  | { readonly state: "live"; readonly platformPostId: string; readonly platformUrl: string | null }
  | { readonly state: "held"; readonly platformPostId: string; readonly platformUrl: string | null }
  | { readonly state: "prepared" }
  | { readonly state: "processing"; readonly checkAgainMs: number };

export interface ConnectedAccount {
  readonly platformAccountId: string;
  readonly name: string;
  readonly handle: string | null;
  readonly profileUrl: string | null;
  readonly avatarUrl: string | null;
  readonly scopes: readonly string[];
  readonly tokenExpiresAt: number | null;
  readonly settings: JsonObject;
  readonly secrets: Readonly<Record<string, string>>;
  /**
   * Shown to the person once, on the page or the terminal where they connected (a signing secret we made).
   */
  readonly notice?: string;
}

export interface SecretField {
  readonly name: string;
  readonly label: string;
  /** Where to find it, in one sentence. */
  readonly help: string;
  readonly isRequired: boolean;
  /** Hidden while typed. */
  readonly isSecret: boolean;
}

export interface ConnectInput {
  readonly instanceUrl: string | null;
  readonly handle: string | null;
  readonly name: string | null;
  readonly secrets: Readonly<Record<string, string>>;
  /** The account that is being reconnected: its stored secrets stand in for those left empty. */
  readonly reconnecting: PlatformAccount | null;
}

export type { ConnectIo };

export type Connect =
  | { readonly kind: "none"; connect(input: ConnectInput, io: ConnectIo): Promise<ConnectedAccount> }
  | {
      readonly kind: "secrets";
      readonly fields: readonly SecretField[];
      /** What the person does, shown on the page and in the tool's answer. */
      readonly instructions: string;
      /** Checks the secrets with the platform. Throws `AppError` `invalid` naming the field that is wrong. */
      connect(input: ConnectInput, io: ConnectIo): Promise<ConnectedAccount>;
    };

export interface RefreshedSecrets {
  readonly secrets: Readonly<Record<string, string>>;
  readonly tokenExpiresAt: number | null;
}

export interface AnalyticsDay {
  readonly date: string;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface PlatformAnalytics {
  readonly totals: Readonly<Record<string, number>>;
  readonly days: readonly AnalyticsDay[];
  readonly unavailable: readonly { metric: string; reason: string }[];
}

/** A platform: one file under `src/platforms`, data first. */
export interface Platform<S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** The page of the platform's documentation it follows. */
  readonly docs: string;
  readonly capabilities: Capabilities;
  /**
   * Its posts live in this very database: after a restore there is nothing on it that the database does not
   * know of. Default: false.
   */
  readonly isLocal?: boolean;
  readonly metadata: S;
  /** Environment variables without which it cannot be connected. */
  readonly requiredSettings: readonly string[];
  readonly connect: Connect;
  /**
   * Rules of a post that data cannot say (length in the platform's unit, media that exclude each other).
   * Pure. `errors` refuse the post, `warnings` are told.
   */
  check?(post: PlatformPost<z.infer<S>>): {
    readonly errors: readonly string[];
    readonly warnings: readonly string[];
  };
  publish(post: PlatformPost<z.infer<S>>, io: PublishIo): Promise<PublishOutcome>;
  /** New secrets for expired ones; throws an `auth` fault when the platform refuses. */
  refresh?(
    secrets: Readonly<Record<string, string>>,
    io: ConnectIo & { readonly account: PlatformAccount },
  ): Promise<RefreshedSecrets>;
  /** Changes a live post. `changed` names the fields that differ. */
  edit?(
    post: PlatformPost<z.infer<S>>,
    changed: readonly string[],
    io: PublishIo,
  ): Promise<{ platformUrl?: string; platformPostId?: string }>;
  setThumbnail?(post: PlatformPost<z.infer<S>>, thumbnailUrl: string, io: PublishIo): Promise<void>;
  insights?(
    post: PlatformPost<z.infer<S>>,
    io: PlatformIo,
  ): Promise<Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> }>;
  analytics?(range: { from: string; to: string }, io: PlatformIo): Promise<PlatformAnalytics>;
  /** Deletes the post on the platform; succeeds when it is gone already. */
  remove?(post: PlatformPost<z.infer<S>>, io: PlatformIo): Promise<void>;
}

/** A platform of any metadata, as the registry holds it. */
export type AnyPlatform = Platform;

/** Types a platform's metadata by its own schema, then erases it for the registry. */
export function definePlatform<S extends z.ZodObject>(platform: Platform<S>): AnyPlatform {
  // Every caller parses metadata with `platform.metadata` before it calls in, so the erased type is never
  // relied on.
  return platform as unknown as AnyPlatform;
}
