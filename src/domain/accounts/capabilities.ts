import type { Capabilities, MediaKind, MediaLimits, Quota } from "./account.ts";

/** Limits that not every platform has: left out, there is none. */
type Bound = "maxBytes" | "maxSeconds" | "minAspectRatio" | "maxAspectRatio";

/** What pictures of another shape than a platform takes get at their sides. */
export type Fill = "white" | "blur";

/** Media of one kind that a platform takes; entries of one kind are told apart by their MIME types. */
export type AcceptedMedia = Readonly<Omit<MediaLimits, Bound | "mimeTypes">> & {
  readonly [limit in Bound]?: number | null;
} & {
  /** Of several, pictures of other types are made the one that its first entry names. */
  readonly mimeTypes: readonly string[];
  /** Pictures beyond the aspect ratios get bars (`ImageLimits.aspect`); left out: they are refused. */
  readonly fill?: Fill;
};

/** What a platform can do, as data for validation, publishing, list_accounts, list_platforms and documents. */
export interface PlatformCapabilities {
  readonly media: {
    /** False where the platform takes text only. */
    readonly required: boolean;
    readonly maxItems: number;
    readonly accepts: readonly AcceptedMedia[];
  };
  /** `weighted`: as the platform's `measure` counts. */
  readonly caption: Capabilities["caption"];
  /**
   * Who makes a post public at its time that is brought there before: `platform` by itself, also when we are
   * down; `ours` we do. `prepare`: only unseen parts of it are made ahead; `none`: nothing is.
   */
  readonly scheduling: "platform" | "ours" | "prepare" | "none";
  readonly leadMinutes: Capabilities["leadMinutes"];
  readonly thumbnail: Capabilities["thumbnail"];
  /** `fields`: caption and metadata keys; empty: none. */
  readonly editPublished: { readonly fields: readonly string[] };
  readonly analytics: { readonly account: readonly string[]; readonly post: readonly string[] };
  readonly reconciles: Capabilities["reconciles"];
  /** Before it is asked, a request may be repeated: it makes one post of those with one key. Default: as `reconciles` says. */
  readonly knowsRepeats?: true;
  /** False: no live post can be deleted there. Default: as the platform's file can. */
  readonly removes?: false;
  /** The kinds of media that it fetches itself, from an address that it is given. */
  readonly fetchesMedia: readonly MediaKind[];
  /**
   * From where: `public` any address on the internet (default); `ours` only those of this Posthorn (a domain
   * that was verified); `near` it may be on our machine or network, so that no address is refused.
   */
  readonly fetchesFrom?: "public" | "ours" | "near";
  /** It shows pictures from where they lie, so that none is changed for it. Default: they are. */
  readonly showsOriginals?: boolean;
  /** How many posts it takes in a time; empty: no limit is known. */
  readonly quotas: readonly Quota[];
}

/** What most platforms have none of. */
const NOTHING = {
  scheduling: "none",
  leadMinutes: { min: 0, default: 0, max: 0 },
  thumbnail: { set: false, replaceAfterPublish: false },
  editPublished: { fields: [] },
  analytics: { account: [], post: [] },
  fetchesMedia: [],
  quotas: [],
} as const satisfies Partial<PlatformCapabilities>;

/** As a platform's file states them: what it leaves out, the platform has none of. */
export type StatedCapabilities = Omit<PlatformCapabilities, keyof typeof NOTHING> &
  Partial<Pick<PlatformCapabilities, keyof typeof NOTHING>>;

export function completeCapabilities(stated: StatedCapabilities): PlatformCapabilities {
  return { ...NOTHING, ...stated };
}

/** The data as callers see it. `hasRemove`: the platform's file can delete a post there. */
export function showCapabilities(data: PlatformCapabilities, hasRemove: boolean): Capabilities {
  const canRemove = hasRemove && data.removes !== false;
  const { media, caption, leadMinutes, thumbnail, editPublished, analytics } = data;
  return {
    media: {
      required: media.required,
      maxItems: media.maxItems,
      accepts: media.accepts.map(({ fill: _fill, ...limits }) => ({
        ...limits,
        mimeTypes: [...limits.mimeTypes],
        maxBytes: limits.maxBytes ?? null,
        maxSeconds: limits.maxSeconds ?? null,
        minAspectRatio: limits.minAspectRatio ?? null,
        maxAspectRatio: limits.maxAspectRatio ?? null,
      })),
    },
    caption,
    nativeScheduling: canHoldPosts(data),
    leadMinutes,
    thumbnail,
    editPublished: { fields: [...editPublished.fields] },
    analytics: { account: [...analytics.account], post: [...analytics.post] },
    reconciles: data.reconciles,
    needsPublicMediaUrl: data.fetchesMedia.length > 0,
    remove: { uploaded: canRemove && canHoldPosts(data), published: canRemove },
    quotas: [...data.quotas],
  };
}

/** Whether a whole post may be on it before its time, unseen. */
export function canHoldPosts({ scheduling }: Pick<PlatformCapabilities, "scheduling">): boolean {
  return scheduling === "platform" || scheduling === "ours";
}

/** The entry for a file: that of its type, else the first of its kind. Undefined: the kind is not taken. */
export function acceptedFor(
  { type, mimeType }: { readonly type: string; readonly mimeType: string },
  accepts: readonly AcceptedMedia[],
): AcceptedMedia | undefined {
  const ofKind = accepts.filter(({ kind }) => kind === type);
  return ofKind.find(({ mimeTypes }) => mimeTypes.includes(mimeType)) ?? ofKind[0];
}
