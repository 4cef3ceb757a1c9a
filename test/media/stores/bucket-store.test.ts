import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createBucketStore, type BucketStore } from "../../../src/media/stores/bucket-store.ts";
import {
  BucketClient,
  type BucketOptions,
  type BucketRequest,
} from "../../../src/media/stores/bucket/client.ts";
import { PART_BYTES } from "../../../src/media/stores/bucket/parts.ts";
import { BucketRefusal } from "../../../src/media/stores/bucket/refusal.ts";
import { sweepUploads } from "../../../src/media/stores/bucket/sweep.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { startFakeS3, type FakeS3, type Fault } from "../../support/fake-s3.ts";
import { createInstantClock } from "../../support/instant-clock.ts";
import { refuseSignature, signatureOf } from "../../support/sigv4.ts";

interface Opened extends AsyncDisposable {
  readonly s3: FakeS3;
  readonly clock: ReturnType<typeof createInstantClock>;
  readonly options: BucketOptions;
  readonly store: BucketStore;
  /** The same bucket with other settings. */
  other(change: Partial<BucketOptions["bucket"]> & { secretAccessKey?: string }): BucketStore;
}

async function open(abilities: Parameters<typeof startFakeS3>[0] = {}): Promise<Opened> {
  const s3 = await startFakeS3(abilities);
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const clock = createInstantClock();
  const options: BucketOptions = { bucket: s3.bucket, secretAccessKey: s3.secretAccessKey, outbound, clock };
  return {
    s3,
    clock,
    options,
    store: createBucketStore(options),
    other: ({ secretAccessKey, ...change }) =>
      createBucketStore({
        ...options,
        secretAccessKey: secretAccessKey ?? s3.secretAccessKey,
        bucket: { ...s3.bucket, ...change },
      }),
    async [Symbol.asyncDispose]() {
      await outbound[Symbol.asyncDispose]();
      await s3[Symbol.asyncDispose]();
    },
  };
}

const body = (content: string | Buffer): Readable =>
  Readable.from([Buffer.from(content)], { objectMode: false });
const LARGE = randomBytes(PART_BYTES + 54_321);

/** Fails the first `times` requests of an operation. */
function failing(operation: string, fault: Fault, times = 1): FakeS3["fail"] {
  let left = times;
  return (request) => (request.operation === operation && left-- > 0 ? fault : null);
}

/** Everything but the sweep of old uploads, which goes beside the first write. */
const operationsOf = (s3: FakeS3): string[] =>
  s3.operations().filter((operation) => operation !== "ListMultipartUploads");

describe("signatures", () => {
  // The examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and
  // sigv4-query-string-auth.html
  const EXAMPLE = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    region: "us-east-1",
  };
  const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  it("are judged by the fake as Amazon judges its own example", () => {
    const headers = {
      host: "examplebucket.s3.amazonaws.com",
      range: "bytes=0-9",
      "x-amz-content-sha256": EMPTY,
      "x-amz-date": "20130524T000000Z",
    };
    const signing = {
      ...EXAMPLE,
      signedHeaders: Object.keys(headers),
      date: "20130524T000000Z",
      payload: EMPTY,
    };
    expect(signatureOf({ method: "GET", target: "/test.txt", headers }, signing)).toBe(
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
    const target =
      "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request" +
      "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
      "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    const request = { method: "GET", target, headers: { host: "examplebucket.s3.amazonaws.com" } };
    const at = Date.UTC(2013, 4, 24);
    expect(refuseSignature(request, EXAMPLE, at + 86_400_000).refusal).toBeNull();
    expect(refuseSignature(request, EXAMPLE, at + 86_401_000).refusal).toEqual([403, "AccessDenied"]);
    expect(
      refuseSignature({ ...request, target: target.replace("test", "best") }, EXAMPLE, at).refusal,
    ).toEqual([403, "SignatureDoesNotMatch"]);
  });

  it("cover the body, its checksum and everything Amazon's own", async () => {
    await using opened = await open();
    await opened.store.write("a/b.bin", body("hello"));
    const [put] = opened.s3.requests.filter(({ operation }) => operation === "PutObject");
    expect(put?.headers["x-amz-content-sha256"]).toBe(
      "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    );
    expect(put?.headers["content-md5"]).toBe("XUFAKrxLKna5cZ2REBfFkg==");
    expect(put?.headers["content-length"]).toBe("5");
    expect(put?.headers["authorization"]).toMatch(
      /SignedHeaders=content-md5;host;x-amz-content-sha256;x-amz-date;x-amz-meta-posthorn-write,/,
    );
  });
});

describe("the fake", () => {
  const ask = async (opened: Opened, request: BucketRequest): Promise<string> => {
    const error: unknown = await new BucketClient(opened.options)
      .ask(request)
      .catch((thrown: unknown) => thrown);
    if (error instanceof Error && !(error instanceof BucketRefusal)) throw error;
    return error instanceof BucketRefusal ? error.code : "taken";
  };
  const bytes = Buffer.from("hello");
  const key = "a/b";

  it("refuses bodies that are not what their sums say, and requests without or with another's signature", async () => {
    await using opened = await open();
    const put = { method: "PUT", key, body: bytes } as const;
    expect(await ask(opened, { ...put, sha256: "0".repeat(64) })).toBe("XAmzContentSHA256Mismatch");
    expect(await ask(opened, { ...put, sha256: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" })).toBe(
      "NotImplemented",
    );
    expect(await ask(opened, { ...put, sha256: "UNSIGNED-PAYLOAD" })).toBe("taken");
    expect(
      await ask(opened, { ...put, headers: { "content-md5": Buffer.alloc(16).toString("base64") } }),
    ).toBe("BadDigest");
    expect(await ask(opened, { ...put, headers: { "content-md5": "short" } })).toBe("InvalidDigest");
    expect(await ask(opened, { ...put, headers: { "x-amz-checksum-sha256": "AAAA" } })).toBe("BadDigest");
    const { outbound, bucket } = opened.options;
    const plain = await outbound.request({
      method: "PUT",
      url: `${bucket.endpoint}/${bucket.name}/${key}`,
      body: bytes,
    });
    expect([plain.status, await text(plain.body)]).toEqual([403, expect.stringContaining("AccessDenied")]);
    const [signed] = opened.s3.requests.filter(({ headers }) => headers["authorization"] !== undefined);
    const { "content-length": _length, ...headers } = (signed?.headers ?? {}) as Record<string, string>;
    const moved = await outbound.request({
      method: "PUT",
      url: `${bucket.endpoint}/${bucket.name}/a/c`,
      headers,
      body: bytes,
    });
    expect([moved.status, await text(moved.body)]).toEqual([
      403,
      expect.stringContaining("SignatureDoesNotMatch"),
    ]);
    const chunked = await outbound.request({
      method: "PUT",
      url: `${bucket.endpoint}/${bucket.name}/${key}`,
      headers,
      body: body("hello"),
    });
    expect([chunked.status, await text(chunked.body)]).toEqual([
      411,
      expect.stringContaining("MissingContentLength"),
    ]);
  });

  it("refuses parts that are too small, unknown, or out of order", async () => {
    await using opened = await open();
    const begin = async (): Promise<string> => {
      const { xml } = await new BucketClient(opened.options).ask({
        method: "POST",
        key,
        query: { uploads: "" },
      });
      return xml.at(-1)?.fields.get("UploadId") ?? "";
    };
    const uploadId = await begin();
    const tag = '"5d41402abc4b2a76b9719d911017c592"';
    for (const partNumber of ["1", "2"])
      expect(await ask(opened, { method: "PUT", key, query: { uploadId, partNumber }, body: bytes })).toBe(
        "taken",
      );
    const complete = (parts: readonly [number, string][], upload = uploadId): Promise<string> => {
      const list = parts
        .map(([number, each]) => `<Part><PartNumber>${number}</PartNumber><ETag>${each}</ETag></Part>`)
        .join("");
      const xml = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
      return ask(opened, { method: "POST", key, query: { uploadId: upload }, body: xml });
    };
    const orders: [number, string][][] = [
      [
        [2, tag],
        [1, tag],
      ],
      [
        [1, tag],
        [2, '"other"'],
      ],
      [
        [1, tag],
        [2, tag],
      ],
      [],
    ];
    const codes: string[] = [];
    for (const order of orders) codes.push(await complete(order));
    expect(codes).toEqual(["InvalidPartOrder", "InvalidPart", "EntityTooSmall", "MalformedXML"]);
    expect(await complete([[1, tag]], "unknown")).toBe("NoSuchUpload");
    expect(await complete([[2, tag]])).toBe("taken");
  });
});

describe("writing to a bucket", () => {
  it("sends large files in equal parts, two at once, and small ones in one request", async () => {
    await using opened = await open();
    const { s3, store } = opened;
    await store.write("small", body(Buffer.alloc(PART_BYTES)));
    expect(operationsOf(s3)).toEqual(["PutObject"]);
    await store.write("large", body(LARGE));
    const parts = s3.requests.filter(({ operation }) => operation === "UploadPart");
    expect(parts.map((part) => part.body.length).sort((a, b) => b - a)).toEqual([PART_BYTES, 54_321]);
    expect(operationsOf(s3).filter((operation) => operation !== "UploadPart")).toEqual([
      "PutObject",
      "CreateMultipartUpload",
      "CompleteMultipartUpload",
    ]);
    expect(s3.partsAtOnce).toBeLessThanOrEqual(2);
    expect(s3.uploads.size).toBe(0);
  });

  it("holds no more than a few parts of a file in memory", async () => {
    await using opened = await open();
    // The bucket takes nothing until it is told to.
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let read = 0;
    async function* source(): AsyncGenerator<Buffer> {
      for (let at = 0; at < 12; at += 1) {
        read += PART_BYTES;
        yield Buffer.alloc(PART_BYTES, at);
      }
    }
    const { outbound } = opened.options;
    const store = createBucketStore({
      ...opened.options,
      outbound: {
        ...outbound,
        request: async (request) => {
          if (request.url.includes("partNumber=")) await held;
          return outbound.request(request);
        },
      },
    });
    const writing = store.write("large", Readable.from(source(), { objectMode: false }));
    while (opened.s3.operations().includes("CreateMultipartUpload") === false)
      await new Promise((resolve) => setTimeout(resolve, 5));
    for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBeLessThanOrEqual(5 * PART_BYTES);
    letGo();
    expect(await writing).toMatchObject({ sizeBytes: 12 * PART_BYTES });
    expect(opened.s3.objects.get("large")?.bytes.length).toBe(12 * PART_BYTES);
  });

  const PASSING: readonly [string, Fault][] = [
    ["503 SlowDown", [503, "SlowDown"]],
    ["500 InternalError", [500, "InternalError"]],
    ["400 RequestTimeout", [400, "RequestTimeout"]],
    ["409 ConditionalRequestConflict", [409, "ConditionalRequestConflict"]],
    ["429", [429, "TooManyRequests"]],
    ["a cut before", "cut before"],
    ["a cut after", "cut after"],
  ];
  const STEPS = [
    "PutObject",
    "UploadPart",
    "CompleteMultipartUpload",
    "HeadObject",
    "GetObject",
    "DeleteObject",
  ];
  /** An answer to HEAD has no body to say more than its status. */
  const isTold = (step: string, fault: Fault): boolean =>
    step !== "HeadObject" ||
    typeof fault === "string" ||
    (Array.isArray(fault) ? Number(fault[0]) : 0) >= 429;
  /** Megabytes each: three of them tell what the others would. */
  const isCheap = (step: string, fault: Fault): boolean =>
    !/Part|Multipart/.test(step) || typeof fault === "string" || fault === PASSING[0]?.[1];
  const MEETINGS = STEPS.flatMap((step) =>
    PASSING.filter(([, fault]) => isTold(step, fault) && isCheap(step, fault)).map(
      ([name, fault]) => [step, name, fault] as const,
    ),
  );
  it.each(MEETINGS)("goes on after a %s met %s, once and three times", async (step, _name, fault) => {
    await using opened = await open();
    const { s3, store, clock } = opened;
    const content =
      step === "UploadPart" || step === "CompleteMultipartUpload" ? LARGE : Buffer.from("small");
    for (const [times, write] of [[1, store.create] as const, [3, store.write] as const]) {
      clock.slept.length = 0;
      s3.fail = failing(step, fault, times);
      await write("a/b", body(content));
      expect(await store.size("a/b")).toBe(content.length);
      expect((await buffer(store.read("a/b"))).equals(content)).toBe(true);
      await store.remove("a/b");
      expect(clock.slept.length).toBe(times);
      expect(Math.max(...clock.slept)).toBeLessThanOrEqual(1_000);
      expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
    }
  });

  it("knows its own object when the answer was lost and the repetition is refused", async () => {
    await using opened = await open();
    opened.s3.fail = failing("PutObject", "cut after");
    expect(await opened.store.create("a/b", body("mine"))).toMatchObject({ sizeBytes: 4 });
    // The second try is refused by its condition; the mark tells that the first one did it.
    expect(operationsOf(opened.s3)).toEqual(["PutObject", "PutObject", "HeadObject"]);
    opened.s3.fail = failing("CompleteMultipartUpload", "cut after");
    await opened.store.create("a/large", body(LARGE));
    expect(opened.s3.objects.get("a/large")?.bytes.equals(LARGE)).toBe(true);
    expect(opened.s3.uploads.size).toBe(0);
  });

  it("tries again when putting the parts together fails in an answer that began as a success", async () => {
    await using opened = await open();
    opened.s3.fail = failing("CompleteMultipartUpload", "error in 200", 2);
    await opened.store.write("large", body(LARGE));
    expect(opened.s3.objects.get("large")?.bytes.equals(LARGE)).toBe(true);
  });

  it.each<[string, Fault, string]>([
    ["CreateMultipartUpload", [503, "SlowDown"], "overloaded or out of order"],
    ["UploadPart", [503, "SlowDown"], "overloaded or out of order"],
    ["UploadPart", "cut before", "does not answer"],
    ["UploadPart", [403, "AccessDenied"], "may not do this"],
    ["UploadPart", [400, "BadDigest"], "refuses the request (status 400, BadDigest)"],
    ["CompleteMultipartUpload", [400, "InvalidPart"], "refuses the request (status 400, InvalidPart)"],
    ["CompleteMultipartUpload", [507, "QuotaExceeded"], "is full"],
    ["PutObject", [500, "InternalError"], "overloaded or out of order"],
  ])(
    "gives up a write whose %s keeps meeting %j, and leaves nothing behind",
    async (step, fault, sentence) => {
      await using opened = await open();
      opened.s3.fail = failing(step, fault, 1_000);
      const content = step === "PutObject" ? "small" : LARGE;
      await expect(opened.store.write("a/b", body(content))).rejects.toMatchObject({
        kind: "unavailable",
        message: expect.stringContaining(sentence),
      });
      expect([opened.s3.objects.size, opened.s3.uploads.size]).toEqual([0, 0]);
    },
  );

  it("stops reading a source when a part cannot be sent", async () => {
    await using opened = await open();
    opened.s3.fail = failing("UploadPart", [403, "AccessDenied"], 1_000);
    const source = Readable.from(
      (async function* () {
        for (;;) {
          yield Buffer.alloc(1024 ** 2);
          await new Promise((resolve) => setImmediate(resolve));
        }
      })(),
    );
    await expect(opened.store.write("a/b", source)).rejects.toMatchObject({ kind: "unavailable" });
    expect(source.destroyed).toBe(true);
    expect(opened.s3.uploads.size).toBe(0);
  });

  it("ends the wait for another try when it is called off", async () => {
    await using opened = await open();
    const caller = new AbortController();
    opened.s3.fail = (request) => {
      if (request.operation !== "PutObject") return null;
      caller.abort(new Error("called off"));
      return [503, "SlowDown"];
    };
    await expect(opened.store.write("a/b", body("x"), { signal: caller.signal })).rejects.toThrow(
      "called off",
    );
    expect(operationsOf(opened.s3)).toEqual(["PutObject"]);
  });

  it("sweeps what killed processes left half uploaded, after a day, and nothing else", async () => {
    await using opened = await open();
    const { s3, options } = opened;
    const upload = (key: string, ageHours: number) => ({
      key,
      initiated: Date.now() - ageHours * 3_600_000,
      headers: {},
      parts: new Map(),
    });
    for (const n of [1, 2, 3, 4, 5]) s3.uploads.set(`old${n}`, upload(`ab/old-${n}`, 25));
    s3.uploads.set("new", upload("ab/new", 23));
    s3.uploads.set("foreign", upload("Other Program/Thing", 99));
    expect(await sweepUploads(new BucketClient(options), (key) => !key.includes(" "))).toBe(5);
    expect([...s3.uploads.keys()].sort()).toEqual(["foreign", "new"]);

    s3.uploads.set("old", upload("ab/old", 25));
    await opened.store.write("a", body("x"));
    await opened.store.write("b", body("x"));
    while (s3.uploads.has("old")) await new Promise((resolve) => setTimeout(resolve, 5));
    expect([...s3.uploads.keys()].sort()).toEqual(["foreign", "new"]);
  });

  it("works for a key that may not list", async () => {
    await using opened = await open({ mayList: false });
    await opened.store.write("a/b", body(LARGE));
    expect(await opened.store.size("a/b")).toBe(LARGE.length);
    await expect(opened.store.size("a/c")).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("list objects"),
    });
  });
});

describe("reading from a bucket", () => {
  it("goes on where an answer breaks off, with the version it began with", async () => {
    await using opened = await open();
    const { s3, store } = opened;
    await store.write("a/b", body(LARGE));
    s3.fail = failing("GetObject", { cutAfterBytes: 2_000_000 }, 3);
    expect((await buffer(store.read("a/b"))).equals(LARGE)).toBe(true);
    const reads = s3.requests.filter(({ operation }) => operation === "GetObject");
    expect(reads.length).toBe(4);
    expect(reads.slice(1).every(({ headers }) => headers["if-match"] === s3.objects.get("a/b")?.etag)).toBe(
      true,
    );

    s3.fail = failing("GetObject", { cutAfterBytes: 1_000 }, 2);
    expect(
      (await buffer(store.read("a/b", { start: 77, end: 9_000 }))).equals(LARGE.subarray(77, 9_001)),
    ).toBe(true);
  });

  it("never mixes two versions of a file", async () => {
    await using opened = await open();
    const { s3, store } = opened;
    await store.write("a/b", body(LARGE));
    s3.fail = failing("GetObject", { cutAfterBytes: 1_000_000 });
    const reading = store.read("a/b");
    const iterator = reading[Symbol.asyncIterator]();
    await iterator.next();
    s3.objects.set("a/b", { bytes: randomBytes(LARGE.length), etag: '"another"', headers: {} });
    const rest = async (): Promise<void> => {
      while ((await iterator.next()).done !== true);
    };
    await expect(rest()).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("was replaced"),
    });
  });

  it("gives up an answer that brings nothing", async () => {
    await using opened = await open();
    await opened.store.write("a/b", body("some content"));
    opened.s3.fail = failing("GetObject", { cutAfterBytes: 0 }, 1_000);
    await expect(text(opened.store.read("a/b"))).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("addresses of a bucket", () => {
  it("give the bytes to whoever has one, for its time, as what they are", async () => {
    await using opened = await open();
    const { s3, options } = opened;
    await opened.store.write("a/b.png", body("picture"));
    const query = { "response-content-type": "image/png", "response-content-disposition": "attachment" };
    const url = await new BucketClient(options).signedUrl("a/b.png", { lastsMs: 60_000, query });
    const ask = (address: string) => options.outbound.request({ method: "GET", url: address });
    const answer = await ask(url);
    expect([answer.status, answer.headers["content-type"], await text(answer.body)]).toEqual([
      200,
      "image/png",
      "picture",
    ]);
    expect((await ask(url.replace("b.png", "c.png"))).status).toBe(403);
    expect((await ask(url.replace("image%2Fpng", "text%2Fhtml"))).status).toBe(403);
    s3.now = () => Date.now() + 62_000;
    expect((await ask(url)).status).toBe(403);
    expect(url).not.toContain(s3.secretAccessKey);
  });

  it("are given only where others can reach the bucket, and never for longer than a week", async () => {
    await using opened = await open();
    const want = { lastsMs: 3_600_000, mimeType: "video/mp4" };
    expect(await opened.store.temporaryUrl("a/b.mp4", want)).toBeNull();
    const store = opened.other({ endpoint: "https://abc.r2.cloudflarestorage.com" });
    const url = new URL((await store.temporaryUrl("a/b.mp4", want)) ?? "");
    expect(url.origin + url.pathname).toBe("https://abc.r2.cloudflarestorage.com/posthorn-test/a/b.mp4");
    expect(url.searchParams.get("X-Amz-Expires")).toBe("3600");
    const long = new URL((await store.temporaryUrl("a/b.mp4", { ...want, lastsMs: 1e12 })) ?? "");
    expect(long.searchParams.get("X-Amz-Expires")).toBe("604800");
  });
});

describe("a bucket that cannot be used", () => {
  const CASES: readonly [string, (opened: Opened) => BucketStore, string][] = [
    ["an unknown key", ({ other }) => other({ accessKeyId: "AKIDOTHER" }), "POSTHORN_S3_ACCESS_KEY_ID: http"],
    [
      "a wrong secret",
      ({ other }) => other({ secretAccessKey: "canary-wrong-secret" }),
      "POSTHORN_S3_SECRET_ACCESS_KEY: it does not belong",
    ],
    [
      "a missing bucket",
      ({ other }) => other({ name: "elsewhere" }),
      "POSTHORN_S3_BUCKET: there is no bucket elsewhere",
    ],
    [
      "another region",
      ({ other }) => other({ region: "mars-1" }),
      "POSTHORN_S3_REGION: the bucket posthorn-test is not in mars-1",
    ],
    [
      "a clock behind",
      ({ store, clock }) => ((clock.skewMs = -20 * 60_000), store),
      "is 20 minutes behind the bucket's",
    ],
    [
      "a clock ahead",
      ({ store, clock }) => ((clock.skewMs = 3_600_000), store),
      "is 60 minutes ahead of the bucket's",
    ],
  ];

  it.each(CASES)(
    "says what is wrong with %s, at the start and ever after",
    async (_name, arrange, sentence) => {
      await using opened = await open();
      const store = arrange(opened);
      const wanted = { kind: "unavailable", message: expect.stringContaining(sentence) };
      await expect(store.assertSettings()).rejects.toMatchObject(wanted);
      await expect(store.write("a/b", body("x"))).rejects.toMatchObject(wanted);
      await expect(text(store.read("a/b"))).rejects.toMatchObject(wanted);
      await expect(store.create("a/b", body(LARGE))).rejects.toMatchObject(wanted);
      expect(await store.examine()).toEqual([{ verdict: "problem", text: wanted.message }]);
      const error: unknown = await store.write("a/b", body("x")).catch((thrown: unknown) => thrown);
      const shown = inspect(error, { depth: 20, showHidden: true });
      for (const secret of [opened.s3.secretAccessKey, "canary-wrong-secret", "Signature="])
        expect(shown).not.toContain(secret);
    },
  );

  it("is told from one that is only out of reach", async () => {
    await using opened = await open();
    expect(await opened.store.assertSettings()).toEqual({ isReachable: true });
    opened.s3.fail = () => [503, "ServiceUnavailable"];
    expect(await opened.store.assertSettings()).toEqual({ isReachable: false });
    opened.s3.fail = () => "cut before";
    expect(await opened.store.assertSettings()).toEqual({ isReachable: false });
    const failed = opened.store.size("a/b");
    await expect(failed).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("does not answer"),
    });
  });
});

describe("examining a bucket", () => {
  it("writes, reads and deletes a probe, and says each", async () => {
    await using opened = await open();
    const findings = await opened.store.examine();
    expect(findings.map(({ verdict }) => verdict)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
    expect(findings.map(({ text: said }) => said)).toEqual([
      `the bucket posthorn-test at ${opened.s3.bucket.endpoint} answers and knows the key`,
      "a probe object was written",
      "it was read back, whole and in part",
      "a second object under its key was refused",
      "it was deleted",
    ]);
    expect(opened.s3.objects.size).toBe(0);
  });

  it("tells what the key may not do and what the server cannot", async () => {
    await using without = await open({ hasConditions: false });
    const ofServer = await without.store.examine();
    expect(ofServer.filter(({ verdict }) => verdict !== "ok")).toEqual([
      { verdict: "note", text: expect.stringContaining("knows no conditional writes") },
    ]);
    await using unlisted = await open({ mayList: false });
    const ofKey = await unlisted.store.examine();
    expect(ofKey.filter(({ verdict }) => verdict !== "ok")).toEqual([
      { verdict: "problem", text: expect.stringContaining("s3:ListBucket.") },
      { verdict: "note", text: expect.stringContaining("s3:ListBucketMultipartUploads") },
    ]);
    expect([without.s3.objects.size, unlisted.s3.objects.size]).toEqual([0, 0]);

    await using opened = await open();
    opened.s3.fail = failing("DeleteObject", [403, "AccessDenied"]);
    expect((await opened.store.examine()).at(-1)).toEqual({
      verdict: "problem",
      text: expect.stringContaining("may not do this"),
    });
    opened.s3.fail = failing("PutObject", [403, "AccessDenied"]);
    expect((await opened.store.examine()).at(-1)).toEqual({
      verdict: "problem",
      text: expect.stringContaining("may not do this"),
    });
  });
});
