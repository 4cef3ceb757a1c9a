import type { Readable } from "node:stream";
import type { Fill } from "../domain/accounts/capabilities.ts";
import type { MediaFigures } from "../domain/files/media-limits.ts";

/** What the bytes themselves say, never a header or a file name. */
export interface MediaFacts extends MediaFigures {
  readonly sha256: string;
}

/** A file of the owner's in the store. */
export interface OwnFile {
  readonly id: string;
  readonly name: string;
  readonly altText: string | null;
  /** As it was looked at when it was stored; it is not looked at again. */
  readonly facts: MediaFacts;
}

/** One picture, video, sound or document of a post, checked. Each reading gives the same bytes or fails. */
export interface MediaItem {
  /** The address the user gave. */
  readonly url: string;
  /** What it is called, without an ending. */
  readonly title: string;
  readonly altText: string | null;
  readonly facts: MediaFacts;
  /** Made of what is at the address, which gives other bytes: of this type. */
  readonly convertedFrom?: string;
  /** A fresh stream over `start` (default 0) to `end` (inclusive). Fails with `AppError`. */
  open(range?: { start?: number; end?: number }): Readable;
}

/** Limits a picture is fitted to: shrunk or re-encoded only as far as they need it. */
export interface ImageLimits {
  readonly maxBytes: number;
  readonly mimeTypes: readonly string[];
  readonly maxWidth?: number;
  readonly maxHeight?: number;
  /** Width divided by height. A picture beyond either gets bars: white, or of its own picture blurred. */
  readonly aspect?: { readonly min?: number; readonly max?: number; readonly fill: Fill };
}

export interface FittedImage {
  readonly bytes: Buffer;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
  /** True where the bytes differ from the original's (re-encoded, shrunk, or stripped of location data). */
  readonly isChanged: boolean;
}

/**
 * A post's media for a platform file. Every method throws `AppError` `invalid` for media that can never be
 * sent (wrong type, too large, a bomb) and `MediaUnavailable` for a source that may answer later.
 */
export interface PostMedia {
  /** Opens and checks the media at this address; cheap when done before. */
  item(url: string, altText?: string | null): Promise<MediaItem>;
  /** The picture within the limits, orientation applied, location data stripped. */
  fitImage(item: MediaItem, limits: ImageLimits): Promise<FittedImage>;
  /**
   * An address that the platform itself can fetch for `minutes`: of media that are not ours where they are,
   * of what was fitted that of a copy, which goes with `release`. Throws `invalid` where we are not publicly
   * reachable.
   */
  publicUrl(item: MediaItem | FittedImage, minutes: number, options?: PublicUrlOptions): Promise<string>;
}

interface PublicUrlOptions {
  /** The receiver may be on this machine or network: any address is good. */
  readonly mayBeNear?: boolean;
  /** Where it was fitted of an own file: the copy lies as long as that, for those who fetch it later. */
  readonly keptWith?: MediaItem;
  /** Under an address of this Posthorn in any case, never the user's or a bucket's. */
  readonly ours?: boolean;
}

/** What others fetch from us by address. */
export interface PublicMedia {
  /** A copy that `publicUrl` made; null where it is gone, or never was. */
  openCopy(name: string): Promise<{
    readonly mimeType: string;
    readonly sizeBytes: number;
    open(range?: { start?: number; end?: number }): Readable;
  } | null>;
  /** Whether others on the internet can fetch a file of ours; `ours`: not out of a bucket. */
  canBeFetched(where: { readonly ours: boolean }): Promise<boolean>;
}

/** Whose media it is: own files of another owner are `not_found`. */
export interface MediaOwner {
  readonly ownerId: string;
  /** Names the spool of remote media, so that a second try after a crash finds what the first one fetched. */
  readonly postId: string;
}

/** Gives each post its media. */
export interface MediaSource {
  forPost(owner: MediaOwner, signal: AbortSignal): PostMedia;
  /** Forgets what was fetched for a post that is finished. */
  release(postId: string): Promise<void>;
}

/** The source did not answer, answered 5xx, or broke off: worth another try until the post's time is over. */
export class MediaUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "MediaUnavailable";
  }
}
