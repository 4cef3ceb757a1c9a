import type { Readable } from "node:stream";

/** Named values of an address or a form; a list is sent under one name again and again, null is left out. */
export type Fields = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>
>;

/** One part of a `multipart/form-data` body. `open` gives a fresh stream of exactly `sizeBytes`. */
export type FormPart =
  | { readonly name: string; readonly text: string; readonly mimeType?: string }
  | {
      readonly name: string;
      readonly fileName: string;
      readonly mimeType: string;
      readonly bytes: Buffer;
    }
  | {
      readonly name: string;
      readonly fileName: string;
      readonly mimeType: string;
      readonly sizeBytes: number;
      open(): Readable;
    };

/** What a request to a platform says beside its headers, and how it is encoded. */
export interface RequestBody {
  /** Added to what the address has already. */
  readonly query?: Fields;
  /** A function gives a fresh stream for each try: with new tokens, the same request is sent again. */
  readonly body?: string | Buffer | (() => Readable);
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Fields;
  /** Sent as `multipart/form-data` of a length known beforehand; streams are never held whole. */
  readonly multipart?: readonly FormPart[];
}
