import { Readable } from "node:stream";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";

/** A request as the fake reads it. */
export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Query and body together, as the Graph API takes them. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** What the API says of its parameters; null: nothing. */
  readonly wrong: string | null;
}

/** Throws what is wrong with the parameters. */
export function check({ wrong }: Asked): void {
  if (wrong !== null) throw new GraphError(100, wrong);
}

/** What the API refuses, with its own numbers. */
export class GraphError extends Error {
  readonly status: number;
  readonly body: object;

  constructor(
    code: number,
    message: string,
    more: { subcode?: number; status?: number; fields?: object } = {},
  ) {
    super(message);
    this.status = more.status ?? 400;
    const type = code === 190 ? "OAuthException" : "GraphMethodException";
    const subcode = more.subcode === undefined ? {} : { error_subcode: more.subcode };
    this.body = {
      error: { message: `(#${code}) ${message}`, type, code, ...subcode, ...more.fields, fbtrace_id: "A1b" },
    };
  }
}

/** A host for files refuses in words of its own. */
export class UploadError extends Error {
  readonly status = 400;
  readonly body: object;

  constructor(type: string) {
    super(type);
    this.body = { debug_info: { retriable: true, type, message: "Request processing failed" } };
  }
}

export function toResponse(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): OutboundResponse {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    url: "",
    body: Readable.from([Buffer.from(JSON.stringify(body))]),
  };
}

/** "2026-11-21T09:00:00+0000", as the API shows moments. */
export function showTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "+0000");
}

/** A page of a list, by its cursors. */
export function paged(all: readonly object[], given: Readonly<Record<string, unknown>>, at: string): object {
  const start = given["after"] === undefined ? 0 : Number(Buffer.from(String(given["after"]), "base64url"));
  const end = start + Number(given["limit"] ?? 25);
  const after = Buffer.from(String(end)).toString("base64url");
  return {
    data: all.slice(start, end),
    paging: {
      cursors: { before: "QQ", after },
      ...(end < all.length ? { next: `https://${at}?after=${after}` } : {}),
    },
  };
}
