import type { Readable } from "node:stream";
import type { FileType } from "../domain/files/file.ts";
import type { MediaSkills } from "../domain/files/media-limits.ts";
import type { FittedImage, ImageLimits, MediaFacts } from "./media.ts";

/** What a file is by its first bytes. */
export interface MediaFormat {
  readonly mimeType: string;
  /** `other`: a table of posts, or subtitles. */
  readonly type: FileType;
  /** Without a dot. */
  readonly extension: string;
}

/** Bytes that can be read from any place, so that a file is never held whole. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Both ends included. */
  read(range: { start: number; end: number }): Readable;
}

/** What shall be made of a picture. */
export interface ImageWanted {
  readonly mimeType: string;
  readonly limits: ImageLimits;
}

export type ProbedMedia = Omit<MediaFacts, "sizeBytes" | "sha256">;

/**
 * Tells media by its content, never by a header or a file name. Its methods throw `unavailable` where the
 * file could not be looked at through no fault of its own, and the signal's reason where that ends it.
 */
export interface MediaProbe {
  /** What can be made of pictures: their libraries are optional. */
  skills(): Promise<Omit<MediaSkills, "films">>;
  /** How many bytes of a file's beginning `identify` wants to see. */
  readonly headBytes: number;
  /** Throws `invalid` for content that is not taken (web pages, SVG, programs). `name`: only for the refusal. */
  identify(head: Uint8Array, name?: string | null): Promise<MediaFormat>;
  /** Throws `invalid` for content that is not taken, damaged, or a bomb. */
  inspect(source: ByteSource, signal: AbortSignal): Promise<ProbedMedia>;
  /** The picture within the limits, see `PostMedia`. Throws `invalid` where nothing fits, or it is a bomb. */
  fitImage(source: ByteSource, wanted: ImageWanted, signal: AbortSignal): Promise<FittedImage>;
  /**
   * A still picture of at most `size` × `size` pixels as WebP, turned as it is shown, without metadata. Null where
   * pictures cannot be changed: sharp is not installed. Throws `unsupported` for what is no picture, `invalid` as
   * `inspect` does.
   */
  shrinkImage(source: ByteSource, size: number, signal: AbortSignal): Promise<Buffer | null>;
}
