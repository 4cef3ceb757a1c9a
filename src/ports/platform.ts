import type * as z from "zod";
import type { Said } from "../domain/sentences.ts";
import {
  completeCapabilities,
  type PlatformCapabilities,
  type StatedCapabilities,
} from "../domain/accounts/capabilities.ts";
import { noteTitle } from "../domain/accounts/platform-titles.ts";
import type { PlatformSetting } from "../domain/accounts/platform-settings.ts";
import type { MediaFigures } from "../domain/files/media-limits.ts";
import type { Insights, Metrics } from "../domain/posts/post.ts";
import type { ConnectWay } from "./connect.ts";
import type { JsonObject, PlatformAccount, PlatformIo } from "./platform-io.ts";
import type { PublishIo } from "./publish-io.ts";

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

/** `live`: public. `held`: there, private. `prepared`: nothing public yet. `processing`: ask again later. */
export type PublishOutcome =
  | { readonly state: "live"; readonly platformPostId: string | null; readonly platformUrl: string | null }
  | {
      readonly state: "held";
      readonly platformPostId: string;
      readonly platformUrl: string | null;
      /** How soon it is asked about again. Default: at its time, and then more seldom the later it gets. */
      readonly checkAgainMs?: number;
      /** What it waits for, where that is a person: "Finish it in the TikTok app." */
      readonly note?: string;
    }
  | { readonly state: "prepared" }
  | {
      readonly state: "processing";
      readonly checkAgainMs: number;
      /** Asked no longer than until then; default: two hours after it was first told. */
      readonly until?: number;
    };

export interface AnalyticsDay {
  readonly date: string;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface PlatformAnalytics {
  readonly totals: Readonly<Record<string, number>>;
  readonly days: readonly AnalyticsDay[];
  readonly unavailable: readonly { metric: string; reason: Said }[];
}

/** A value that a field of the metadata may have, and what it is called. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What `check` sees beside the post. */
export interface CheckedAt {
  readonly account: PlatformAccount;
  /** Of the owner's files in the post, by the address that it gives. */
  readonly media: ReadonlyMap<string, MediaFigures>;
  /** Wall clock in milliseconds. */
  readonly now: number;
}

/** What `check` found: `errors` refuse the post, `warnings` are told. */
export interface CheckResult {
  readonly errors: readonly Said[];
  readonly warnings: readonly Said[];
}

/** What tells whether an option may be used. */
export interface GateFacts {
  readonly account: PlatformAccount;
  /** `POSTHORN_<PLATFORM>_<NAME>`; null: not set. */
  setting(name: string): string | null;
}

/** An option that not every plan, account or consent has. It is refused when a post is planned. */
export interface GatedOption<F extends string = string> {
  /** The field of the metadata. */
  readonly field: F;
  /** Which of its values; default: all but false. */
  readonly values?: readonly (string | boolean)[];
  /** Who may, as it stands after "only for". The field's description says it in the same words. */
  readonly who: string;
  /** What to do where they are not, in a sentence. */
  readonly instead: string;
  /** Null: neither the account nor a setting tells. The post is taken then, with a warning. */
  mayUse(at: GateFacts): boolean | null;
}

/** What readers see of a post. What is left out is as `src/posts/preview.ts` makes it of the data. */
export interface PlatformPreview {
  /** What stands in front of the text; default: `title`. */
  readonly title?: string | null;
  /** Default: the caption. */
  readonly body?: string | null;
  /** How it writes the caption and the texts of a thread; default: as they are. */
  write?(text: string): string;
  /** What counts of a text, piece by piece, where that is not what is shown. It gets the text that `write` made. */
  counted?(text: string): readonly string[];
  /** Where its card or button leads to; default: `link`. */
  readonly link?: string | null;
  /** What else to know, in a sentence; default: the warning that hides it. */
  readonly note?: string | null;
}

/** A post that may not be finished: fields of its metadata that are missing or wrong are left out. */
export type UnfinishedPost<M> = PlatformPost<Partial<M>>;

/** What the platform knows of a live post. */
export type PostInsights = Pick<Insights, "state" | "visibility"> & { readonly metrics: Partial<Metrics> };

/** Where a live post is after a change; what is left out stays as it was. */
export interface EditResult {
  readonly platformUrl?: string;
  readonly platformPostId?: string;
}

/** What is left out stays as it was. */
export interface Inspection {
  readonly name?: string;
  readonly handle?: string | null;
  readonly avatarUrl?: string | null;
  /** Becomes `account.limits`: longest video, privacy options, rights, the server's own limits. */
  readonly limits?: JsonObject;
  /** Why nothing can be posted, in a sentence with the way out; null: nothing is in the way. */
  readonly problem: string | null;
  /** How much of its quotas is used, by their names, as far as the platform tells. */
  readonly quotaUse?: Readonly<Record<string, number>>;
}

/** A platform: one folder under `src/platforms`, data first. */
export interface Platform<S extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** Other names that people give it: an older one, a short one. */
  readonly aliases?: readonly string[];
  /** The page of the platform's documentation it follows. */
  readonly docs: string;
  readonly capabilities: PlatformCapabilities;
  /**
   * Those of one account, where its server, plan or permissions make a difference, and of the kind of post
   * that is meant (null: of none in particular). Pure and quick, out of `account.settings` and
   * `account.limits`, which may be empty still.
   */
  capabilitiesOf?(account: PlatformAccount, post: PlatformPost<z.infer<S>> | null): PlatformCapabilities;
  /** Its posts live in this database: after a restore it has nothing that is unknown. Default: false. */
  readonly isLocal?: boolean;
  readonly metadata: S;
  /** Where its API is asked, where that is one place for all; POSTHORN_<PLATFORM>_BASE_URL replaces it. */
  readonly baseUrl?: string;
  /** It shows a card of `link`, and does not look at the page itself: title and picture are read from there. */
  readonly showsLinkCards?: boolean;
  /** Its own settings; BASE_URL and those of a consent (CLIENT_ID, SCOPES, …) come by themselves (`settingsOf`). */
  readonly settings?: readonly PlatformSetting[];
  /** Options that not everybody has. */
  readonly gated?: readonly GatedOption[];
  /** How its channels are connected; the first is the way that is taken when none is named. */
  readonly connect: readonly [ConnectWay, ...ConnectWay[]];
  /** Metadata fields whose values only the channel knows. Each searches them ("": all), 100 at most. */
  readonly choices?: Readonly<Record<string, (search: string, io: PlatformIo) => Promise<readonly Choice[]>>>;
  /** Rules that data cannot say. Pure. Asked when a post is scheduled or edited, and before it is sent. */
  check?(post: PlatformPost<z.infer<S>>, at: CheckedAt): CheckResult;
  /** How it shows a post, where that is not as its data say. Pure and quick; never throws. */
  preview?(post: UnfinishedPost<z.infer<S>>, at: Pick<CheckedAt, "account" | "media">): PlatformPreview;
  /**
   * The length of a caption, where its unit is `weighted`. It sees no post: where the post says how its text is
   * read, `capabilitiesOf` gives the unit. `urlLength`: of its capabilities. Pure.
   */
  measure?(text: string, urlLength?: number): number;
  /** Who the account is, what it may do, and what stands in the way: after connecting, and daily. */
  inspect?(io: PlatformIo): Promise<Inspection>;
  publish(post: PlatformPost<z.infer<S>>, io: PublishIo): Promise<PublishOutcome>;
  /** Changes a live post. `changed` names the fields that differ. */
  edit?(post: PlatformPost<z.infer<S>>, changed: readonly string[], io: PublishIo): Promise<EditResult>;
  setThumbnail?(post: PlatformPost<z.infer<S>>, thumbnailUrl: string, io: PublishIo): Promise<void>;
  insights?(post: PlatformPost<z.infer<S>>, io: PlatformIo): Promise<PostInsights>;
  analytics?(range: { from: string; to: string }, io: PlatformIo): Promise<PlatformAnalytics>;
  /** How figures of live posts and channels are collected. */
  readonly results?: {
    /** What each reading costs, in a sentence. Then none is made unless POSTHORN_<PLATFORM>_RESULTS is on. */
    readonly price?: string;
    /** Readings a minute, all channels together. Default: 30. */
    readonly perMinute?: number;
  };
  /** Deletes the post there. Succeeds when it is gone. A sentence tells what the platform keeps. */
  remove?(post: PlatformPost<z.infer<S>>, io: PlatformIo): Promise<{ readonly left: string } | void>;
}

/** A platform of any metadata, as the registry holds it. */
export type AnyPlatform = Platform;

/** A platform as its file states it: capabilities that are left out are none. */
interface StatedPlatform<S extends z.ZodObject> extends Omit<Platform<S>, "capabilities" | "capabilitiesOf"> {
  readonly capabilities: StatedCapabilities;
  capabilitiesOf?(...at: Parameters<NonNullable<Platform<S>["capabilitiesOf"]>>): StatedCapabilities;
}

/** Types a platform's metadata by its own schema, then erases it for the registry. */
export function definePlatform<S extends z.ZodObject>(stated: StatedPlatform<S>): AnyPlatform {
  const { capabilities, capabilitiesOf, ...rest } = stated;
  noteTitle(rest.name, rest.title);
  const platform: Platform<S> = {
    ...rest,
    capabilities: completeCapabilities(capabilities),
    ...(capabilitiesOf !== undefined && {
      capabilitiesOf: (...at) => completeCapabilities(capabilitiesOf(...at)),
    }),
  };
  // All callers parse metadata with `platform.metadata` first, so the erased type is not relied on.
  return platform as unknown as AnyPlatform;
}
