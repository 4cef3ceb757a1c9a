import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import type { BucketSettings } from "../../src/domain/files/bucket-settings.ts";
import { refuseSignature, type Credentials, type Refusal } from "./sigv4.ts";

const MIN_PART_BYTES = 5 * 1024 ** 2;

interface FakeObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface FakeUpload {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, FakeObject>;
}

interface S3Request {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** PutObject, UploadPart, … */
  readonly operation: string;
}

/**
 * What goes wrong with a request: an error instead of it, an error in an answer that began as a success, the
 * connection cut before it is carried out or after, or after so many bytes of the answer.
 */
export type Fault =
  Refusal | "cut before" | "cut after" | "error in 200" | { readonly cutAfterBytes: number };

export interface FakeS3 extends AsyncDisposable {
  readonly bucket: BucketSettings;
  readonly secretAccessKey: string;
  readonly objects: Map<string, FakeObject>;
  readonly uploads: Map<string, FakeUpload>;
  readonly requests: S3Request[];
  /** Parts that were being received at once, at most. */
  partsAtOnce: number;
  /** Every request is asked about; null: it goes well. */
  fail: (request: S3Request) => Fault | null;
  /** The server's clock. */
  now: () => number;
  /** Operations of requests so far, in order. */
  operations(): string[];
  /** A GET without a key of ours, for an address under another name of this server. */
  askAs(host: string, address: string): Promise<{ status: number; type: string | undefined; text: string }>;
}

/**
 * A strict S3: one bucket by path-style addresses; it verifies every signature and checksum and refuses what
 * S3 refuses.
 */
export async function startFakeS3(options: { mayList?: boolean } = {}): Promise<FakeS3> {
  const known: Credentials = {
    accessKeyId: "AKIDPOSTHORNTEST",
    secretAccessKey: `canary-${randomBytes(20).toString("hex")}`,
    region: "eu-test-1",
  };
  const server = createServer();
  const fake: FakeS3 = {
    bucket: { endpoint: "", name: "posthorn-test", region: known.region, accessKeyId: known.accessKeyId },
    secretAccessKey: known.secretAccessKey,
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    partsAtOnce: 0,
    fail: () => null,
    now: () => Date.now(),
    operations: () => fake.requests.map(({ operation }) => operation),
    async askAs(host, address) {
      const { pathname, search } = new URL(address);
      const { port } = server.address() as AddressInfo;
      const sent = get({ port, host: "127.0.0.1", path: pathname + search, headers: { host } });
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      return {
        status: answer.statusCode ?? 0,
        type: answer.headers["content-type"],
        text: await textOf(answer),
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const handler = new Handler(fake, known, { mayList: options.mayList ?? true });
  server.on("request", (request, response) => void handler.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(fake, { bucket: { ...fake.bucket, endpoint } });
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

const md5 = (bytes: Buffer): Buffer => createHash("md5").update(bytes).digest();
const refuse = ([status, code]: Refusal): Answer => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>It says &amp; means no.</Message><RequestId>tx1</RequestId></Error>`,
});
const xml = (body: string): Answer => ({
  status: 200,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0"?>\n${body}`,
});

class Handler {
  readonly #fake: FakeS3;
  readonly #known: Credentials;
  readonly #abilities: { mayList: boolean };
  #partsNow = 0;

  constructor(fake: FakeS3, known: Credentials, abilities: { mayList: boolean }) {
    this.#fake = fake;
    this.#known = known;
    this.#abilities = abilities;
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const isPart = message.method === "PUT" && (message.url ?? "").includes("partNumber=");
    if (isPart) this.#fake.partsAtOnce = Math.max(this.#fake.partsAtOnce, (this.#partsNow += 1));
    try {
      const request = await this.#read(message);
      if (request === null) return;
      this.#fake.requests.push(request);
      const fault = this.#fake.fail(request);
      if (fault === "cut before") return void message.socket.destroy();
      const refused = Array.isArray(fault) ? refuse(fault as unknown as Refusal) : null;
      const answer =
        refused ??
        (fault === "error in 200" ? { ...refuse([200, "InternalError"]) } : this.#answer(message, request));
      if (fault === "cut after") return void message.socket.destroy();
      this.#send(response, request, answer, fault);
    } finally {
      if (isPart) this.#partsNow -= 1;
    }
  }

  async #read(message: IncomingMessage): Promise<S3Request | null> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of message) chunks.push(chunk as Buffer);
    } catch {
      return null;
    }
    const url = new URL(message.url ?? "/", "http://any");
    const [, name = "", ...key] = url.pathname.split("/");
    const request = {
      method: message.method ?? "",
      key: key.join("/"),
      query: url.searchParams,
      headers: message.headers,
      body: Buffer.concat(chunks),
    };
    return { ...request, operation: name === this.#fake.bucket.name ? operationOf(request) : "NoSuchBucket" };
  }

  #send(
    response: ServerResponse,
    request: S3Request,
    { status, headers, body = "" }: Answer,
    fault: Fault | null,
  ): void {
    const bytes = Buffer.from(body);
    const sent = { "content-length": String(bytes.length), ...headers };
    response.sendDate = false;
    response.writeHead(status, { ...sent, date: new Date(this.#fake.now()).toUTCString() });
    if (request.method === "HEAD") return void response.end();
    if (fault === null || typeof fault !== "object" || !("cutAfterBytes" in fault))
      return void response.end(bytes);
    response.write(bytes.subarray(0, fault.cutAfterBytes), () => response.destroy());
  }

  #answer(message: IncomingMessage, request: S3Request): Answer {
    const target = message.url ?? "";
    const { refusal, payload } = refuseSignature(
      { method: request.method, target, headers: message.headers },
      this.#known,
      this.#fake.now(),
    );
    if (request.method === "PUT" && request.headers["content-length"] === undefined)
      return refuse([411, "MissingContentLength"]);
    const refused = refusal ?? refuseBody(request, payload);
    if (refused !== null) return refuse(refused);
    if (request.operation === "NoSuchBucket") return refuse([404, "NoSuchBucket"]);
    const operations: Record<string, () => Answer> = {
      PutObject: () => this.#put(request),
      GetObject: () => this.#get(request),
      HeadObject: () => this.#get(request),
      DeleteObject: () => (this.#fake.objects.delete(request.key), { status: 204 }),
      CreateMultipartUpload: () => this.#begin(request),
      UploadPart: () => this.#part(request),
      CompleteMultipartUpload: () => this.#complete(request),
      AbortMultipartUpload: () =>
        this.#fake.uploads.delete(uploadIdOf(request)) ? { status: 204 } : refuse([404, "NoSuchUpload"]),
    };
    return operations[request.operation]?.() ?? refuse([501, "NotImplemented"]);
  }

  #put(request: S3Request): Answer {
    const object = {
      bytes: request.body,
      etag: `"${md5(request.body).toString("hex")}"`,
      headers: keptHeaders(request),
    };
    this.#fake.objects.set(request.key, object);
    return { status: 200, headers: { etag: object.etag } };
  }

  #get({ key, headers, query }: S3Request): Answer {
    const object = this.#fake.objects.get(key);
    if (object === undefined)
      return refuse(this.#abilities.mayList ? [404, "NoSuchKey"] : [403, "AccessDenied"]);
    if (headers["if-match"] !== undefined && headers["if-match"] !== object.etag)
      return refuse([412, "PreconditionFailed"]);
    const shown: Record<string, string> = { ...object.headers, etag: object.etag, "accept-ranges": "bytes" };
    for (const [name, value] of query)
      if (name.startsWith("response-")) shown[name.slice("response-".length)] = value;
    const size = object.bytes.length;
    const match = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "");
    if (match === null)
      return { status: 200, headers: { ...shown, "content-length": String(size) }, body: object.bytes };
    const start = Number(match[1]);
    const end = Math.min(match[2] === "" ? size - 1 : Number(match[2]), size - 1);
    if (start >= size || end < start) return refuse([416, "InvalidRange"]);
    return {
      status: 206,
      headers: { ...shown, "content-range": `bytes ${start}-${end}/${size}` },
      body: object.bytes.subarray(start, end + 1),
    };
  }

  #begin(request: S3Request): Answer {
    const uploadId = randomBytes(16).toString("base64");
    this.#fake.uploads.set(uploadId, {
      key: request.key,
      headers: keptHeaders(request),
      parts: new Map(),
    });
    return xml(
      `<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>${request.key}</Key><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  #part(request: S3Request): Answer {
    const upload = this.#uploadOf(request);
    const number = Number(request.query.get("partNumber"));
    if (upload === null) return refuse([404, "NoSuchUpload"]);
    if (!(number >= 1 && number <= 10_000)) return refuse([400, "InvalidArgument"]);
    const etag = `"${md5(request.body).toString("hex")}"`;
    upload.parts.set(number, { bytes: request.body, etag, headers: {} });
    return { status: 200, headers: { etag } };
  }

  #complete(request: S3Request): Answer {
    const upload = this.#uploadOf(request);
    if (upload === null) return refuse([404, "NoSuchUpload"]);
    const text = request.body.toString();
    const named = [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(
      ([, part = ""]) => ["", fieldOf(part, "PartNumber"), fieldOf(part, "ETag")] as const,
    );
    if (!/^(<\?xml[^>]*>\s*)?<CompleteMultipartUpload[ >]/.test(text) || named.length === 0)
      return refuse([400, "MalformedXML"]);
    const numbers = named.map(([, number]) => Number(number));
    if (numbers.some((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0)))
      return refuse([400, "InvalidPartOrder"]);
    const parts = named.map(([, number, tag]) => ({
      part: upload.parts.get(Number(number)),
      tag: (tag ?? "").replaceAll("&quot;", '"'),
    }));
    if (parts.some(({ part, tag }) => part?.etag !== tag)) return refuse([400, "InvalidPart"]);
    const sizes = parts.map(({ part }) => part?.bytes.length ?? 0);
    if (sizes.slice(0, -1).some((size) => size < MIN_PART_BYTES)) return refuse([400, "EntityTooSmall"]);
    // R2's rule: https://developers.cloudflare.com/r2/objects/multipart-objects/
    if (sizes.slice(0, -1).some((size) => size !== sizes[0]) || (sizes.at(-1) ?? 0) > (sizes[0] ?? 0))
      return refuse([400, "InvalidPart"]);
    const bytes = Buffer.concat(parts.flatMap(({ part }) => part?.bytes ?? []));
    const etag = `"${md5(Buffer.concat(parts.map(({ part }) => md5(part?.bytes ?? Buffer.alloc(0))))).toString("hex")}-${parts.length}"`;
    this.#fake.objects.set(upload.key, { bytes, etag, headers: upload.headers });
    this.#fake.uploads.delete(uploadIdOf(request));
    return xml(
      `<CompleteMultipartUploadResult><Key>${upload.key}</Key><ETag>${etag.replaceAll('"', "&quot;")}</ETag></CompleteMultipartUploadResult>`,
    );
  }

  #uploadOf(request: S3Request): FakeUpload | null {
    const upload = this.#fake.uploads.get(uploadIdOf(request));
    return upload?.key === request.key ? upload : null;
  }
}

function fieldOf(text: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "";
}

function uploadIdOf({ query }: S3Request): string {
  return query.get("uploadId") ?? "";
}

function keptHeaders({ headers }: S3Request): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => name === "content-type" || name.startsWith("x-amz-meta-"),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function operationOf({ method, query }: Pick<S3Request, "method" | "query">): string {
  if (method === "POST")
    return query.has("uploads")
      ? "CreateMultipartUpload"
      : query.has("uploadId")
        ? "CompleteMultipartUpload"
        : "Unknown";
  if (method === "PUT") return query.has("partNumber") ? "UploadPart" : "PutObject";
  if (method === "DELETE") return query.has("uploadId") ? "AbortMultipartUpload" : "DeleteObject";
  return ({ GET: "GetObject", HEAD: "HeadObject" } as Record<string, string>)[method] ?? "Unknown";
}

/** Checksums, as S3 checks them. */
function refuseBody({ headers, body }: S3Request, payload: string): Refusal | null {
  // R2 and B2 take no chunked signatures.
  if (payload.startsWith("STREAMING-")) return [501, "NotImplemented"];
  const sha256 = createHash("sha256").update(body).digest();
  if (payload !== "UNSIGNED-PAYLOAD" && payload !== sha256.toString("hex"))
    return [400, "XAmzContentSHA256Mismatch"];
  const given = headers["content-md5"];
  if (given !== undefined) {
    if (Buffer.from(String(given), "base64").length !== 16) return [400, "InvalidDigest"];
    if (given !== md5(body).toString("base64")) return [400, "BadDigest"];
  }
  const checksum = headers["x-amz-checksum-sha256"];
  return checksum !== undefined && checksum !== sha256.toString("base64") ? [400, "BadDigest"] : null;
}
