import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import type { BucketSettings } from "../../../domain/files/bucket-settings.ts";
import { HOUR, MINUTE, SECOND } from "../../../domain/time.ts";
import type { Clock } from "../../../ports/clock.ts";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../ports/outbound.ts";
import { toBuffer } from "../../to-buffer.ts";
import { BucketRefusal } from "./refusal.ts";
import { readXml, type XmlElement } from "./xml.ts";

export interface BucketOptions {
  readonly bucket: BucketSettings;
  readonly secretAccessKey: string;
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** From 0 to 1, for the jitter between tries. */
  readonly random?: () => number;
}

export interface BucketRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Null: the bucket itself. */
  readonly key: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Always in memory and bounded: a try that failed is sent again. */
  readonly body?: Buffer;
  /** Of the body, where it is known already; hexadecimal. */
  readonly sha256?: string;
  readonly signal?: AbortSignal;
}

interface BucketAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** The elements of an XML body, the root last; empty without one. */
  readonly xml: readonly XmlElement[];
}

/**
 * Requests that fail in passing are repeated this often in all: each of them may be, without doing anything
 * twice.
 */
const MAX_TRIES = 6;
const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 8 * SECOND;

/** A part on a line of 500 kbit/s takes two minutes. */
const ASK_TIMEOUT_MS = 5 * MINUTE;
/** Whoever reads slower goes on with another request. */
const READ_TIMEOUT_MS = HOUR;
const IDLE_MS = 30 * SECOND;

/** A list of a thousand uploads has about 500 KB. */
const MAX_XML_BYTES = 2 * 1024 ** 2;

/** Longest that a signed address may last (SigV4). */
const MAX_SIGNED_MS = 7 * 24 * HOUR;

const PASSING_CODES: readonly string[] = [
  "RequestTimeout",
  "SlowDown",
  "InternalError",
  "OperationAborted",
  "ConditionalRequestConflict",
];

/** Signed requests to one bucket by path-style addresses, which every S3-compatible server takes. */
export class BucketClient {
  readonly bucket: BucketSettings;
  readonly clock: Clock;
  readonly #options: BucketOptions;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.bucket = options.bucket;
    this.clock = options.clock;
  }

  /** Waits for the whole answer. Throws `BucketRefusal`, `OutboundFailure`, or the signal's reason. */
  ask(request: BucketRequest): Promise<BucketAnswer> {
    return this.#retrying(request, async () => {
      const response = await this.#send(request, ASK_TIMEOUT_MS);
      const xml = readXml(await readText(response));
      // A multipart upload that could not be put together is told in an answer that began as a success.
      if (response.status >= 300 || xml.at(-1)?.name === "Error") throw this.#refusal(response, xml);
      return { headers: response.headers, xml };
    });
  }

  /** The answer's body is to be read or destroyed. Throws as `ask` does. */
  open(request: BucketRequest): Promise<OutboundResponse> {
    return this.#retrying(request, async () => {
      const response = await this.#send(request, READ_TIMEOUT_MS);
      if (response.status < 300) return response;
      throw this.#refusal(response, readXml(await readText(response)));
    });
  }

  /** Before a request is repeated; `tries` have been made. */
  pause(tries: number, signal?: AbortSignal): Promise<void> {
    const ceiling = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (tries - 1));
    return this.clock.sleep(Math.round((this.#options.random ?? Math.random)() * ceiling), signal);
  }

  /** An address that gives the object to whoever has it. */
  async signedUrl(
    key: string,
    options: { readonly lastsMs: number; readonly query: Readonly<Record<string, string>> },
  ): Promise<string> {
    const seconds = Math.ceil(Math.min(options.lastsMs, MAX_SIGNED_MS) / SECOND);
    const url = this.#url({ key, query: { ...options.query, "X-Amz-Expires": String(seconds) } });
    const signed = await this.#signer({ method: "GET", url, signQuery: true }).sign();
    return signed.url.href;
  }

  async #retrying<T>({ signal }: BucketRequest, attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        signal?.throwIfAborted();
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        if (tries === MAX_TRIES || !isPassing(error)) throw error;
        await this.pause(tries, signal);
      }
    }
  }

  async #send(request: BucketRequest, timeoutMs: number): Promise<OutboundResponse> {
    const { method, body, signal } = request;
    const url = this.#url(request);
    const sha256 = request.sha256 ?? sha256Of(body);
    const headers = { ...request.headers, "x-amz-content-sha256": sha256 };
    const signed = await this.#signer({ method, url, headers }).sign();
    const sent: OutboundRequest = {
      method,
      url,
      headers: Object.fromEntries(signed.headers),
      timeoutMs,
      idleMs: IDLE_MS,
      purpose: "bucket",
      mayBePrivate: true,
    };
    return this.#options.outbound.request({
      ...sent,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #url({ key, query }: Pick<BucketRequest, "key" | "query">): string {
    const url = new URL(`${this.bucket.endpoint}/${this.bucket.name}${key === null ? "" : `/${key}`}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    return url.href;
  }

  #signer(request: {
    method: string;
    url: string;
    headers?: Record<string, string>;
    signQuery?: boolean;
  }): AwsV4Signer {
    const datetime = new Date(this.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, "");
    const { accessKeyId, region } = this.bucket;
    return new AwsV4Signer({
      ...request,
      accessKeyId,
      secretAccessKey: this.#options.secretAccessKey,
      service: "s3",
      region,
      datetime,
    });
  }

  #refusal({ status, headers }: OutboundResponse, xml: readonly XmlElement[]): BucketRefusal {
    const code = xml.at(-1)?.fields.get("Code") ?? "";
    const serverTime = Date.parse(headers["date"] ?? "");
    const clockErrorMs = Number.isFinite(serverTime) ? this.clock.now() - serverTime : null;
    // It stands in sentences of ours.
    return new BucketRefusal({ status, code: /^[A-Za-z0-9]{1,64}$/.test(code) ? code : "", clockErrorMs });
  }
}

function sha256Of(body: Buffer | undefined): string {
  return createHash("sha256")
    .update(body ?? "")
    .digest("hex");
}

function isPassing(error: unknown): boolean {
  if (error instanceof OutboundFailure) return true;
  if (!(error instanceof BucketRefusal)) return false;
  return (
    PASSING_CODES.includes(error.code) ||
    error.status === 429 ||
    (error.status >= 500 && error.status !== 501)
  );
}

async function readText({ body }: OutboundResponse): Promise<string> {
  try {
    return await text(Readable.from(limited(body)));
  } catch (cause) {
    throw new OutboundFailure("The bucket's answer broke off.", true, { cause });
  } finally {
    body.destroy();
  }
}

async function* limited(body: Readable): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of body) {
    const bytes = toBuffer(chunk);
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_XML_BYTES) throw new Error("The bucket's answer is too long.");
    yield bytes;
  }
}
