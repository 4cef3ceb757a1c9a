import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { type BucketStore, createBucketStore } from "../../../src/media/stores/bucket-store.ts";
import { type BucketOptions, PART_BYTES } from "../../../src/media/stores/bucket/objects.ts";
import { type FakeS3, type Fault, startFakeS3 } from "../../support/fake-s3.ts";
import { refuseSignature, signatureOf } from "../../support/sigv4.ts";

interface Opened extends AsyncDisposable {
  readonly s3: FakeS3;
  readonly store: BucketStore;
  /** The same bucket with other settings. */
  other(
    change: Partial<BucketOptions["bucket"]> & { secretAccessKey?: string; maxTries?: number },
  ): BucketStore;
}

async function open(abilities: Parameters<typeof startFakeS3>[0] = {}): Promise<Opened> {
  const s3 = await startFakeS3(abilities);
  const other: Opened["other"] = ({ secretAccessKey = s3.secretAccessKey, maxTries = 2, ...change }) =>
    createBucketStore({ secretAccessKey, maxTries, bucket: { ...s3.bucket, ...change } });
  return { s3, store: other({}), other, [Symbol.asyncDispose]: () => s3[Symbol.asyncDispose]() };
}

const body = (content: string | Buffer): Readable =>
  Readable.from([Buffer.from(content)], { objectMode: false });
const LARGE = randomBytes(PART_BYTES + 54_321);

/** Fails the first `times` requests of an operation. */
function failing(operation: string, fault: Fault, times = 1): FakeS3["fail"] {
  let left = times;
  return (request) => (request.operation === operation && left-- > 0 ? fault : null);
}

it("judges signatures in the fake as Amazon judges its own example", () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and sigv4-query-string-auth.html
  const EXAMPLE = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    region: "us-east-1",
  };
  const payload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const headers = {
    host: "examplebucket.s3.amazonaws.com",
    range: "bytes=0-9",
    "x-amz-content-sha256": payload,
    "x-amz-date": "20130524T000000Z",
  };
  const signing = { ...EXAMPLE, signedHeaders: Object.keys(headers), date: "20130524T000000Z", payload };
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
  const other = { ...request, target: target.replace("test", "best") };
  expect(refuseSignature(other, EXAMPLE, at).refusal).toEqual([403, "SignatureDoesNotMatch"]);
});

describe("writing to a bucket", () => {
  it("sends large files in equal parts, two at once, and small ones in one request, with their sums", async () => {
    await using opened = await open();
    const { s3, store } = opened;
    await store.write("small", body("hello"));
    expect(s3.operations()).toEqual(["PutObject"]);
    expect(s3.requests.at(-1)?.headers["content-md5"]).toBe("XUFAKrxLKna5cZ2REBfFkg==");
    await store.write("large", body(LARGE));
    const parts = s3.requests.filter(({ operation }) => operation === "UploadPart");
    expect(parts.map((part) => part.body.length).sort((a, b) => b - a)).toEqual([PART_BYTES, 54_321]);
    expect(s3.operations().filter((operation) => operation !== "UploadPart")).toEqual([
      "PutObject",
      "CreateMultipartUpload",
      "CompleteMultipartUpload",
    ]);
    expect(s3.partsAtOnce).toBeLessThanOrEqual(2);
    expect(s3.uploads.size).toBe(0);
  });

  it("holds no more than a few parts of a file in memory", async () => {
    await using opened = await open();
    let read = 0;
    async function* source(): AsyncGenerator<Buffer> {
      for (let at = 0; at < 12; at += 1) {
        read += PART_BYTES;
        yield Buffer.alloc(PART_BYTES, at);
      }
    }
    let most = 0;
    let taken = 0;
    opened.s3.fail = ({ operation }) => {
      if (operation !== "UploadPart") return null;
      most = Math.max(most, read - PART_BYTES * taken++);
      return null;
    };
    const written = opened.store.write("large", Readable.from(source(), { objectMode: false }));
    expect(await written).toMatchObject({ sizeBytes: 12 * PART_BYTES });
    expect(most).toBeLessThanOrEqual(5 * PART_BYTES);
    expect(opened.s3.objects.get("large")?.bytes.length).toBe(12 * PART_BYTES);
  });

  const PASSING: readonly [string, Fault][] = [
    ["503 SlowDown", [503, "SlowDown"]],
    ["500 InternalError", [500, "InternalError"]],
    ["429", [429, "TooManyRequests"]],
    ["a cut before", "cut before"],
    ["a cut after", "cut after"],
  ];
  const SMALL_STEPS = ["PutObject", "HeadObject", "GetObject", "DeleteObject"];
  const MEETINGS = [
    ...SMALL_STEPS.flatMap((step) => PASSING.map(([name, fault]) => [step, name, fault] as const)),
    ["UploadPart", "a cut before", "cut before"] as const,
    ["CompleteMultipartUpload", "a cut after", "cut after"] as const,
    ["CompleteMultipartUpload", "an error in an answer that began as a success", "error in 200"] as const,
  ];
  it.each(MEETINGS)("goes on after a %s met %s", async (step, _name, fault) => {
    await using opened = await open();
    const { s3, store } = opened;
    const content = SMALL_STEPS.includes(step) ? Buffer.from("small") : LARGE;
    for (const write of [store.create, store.write]) {
      s3.fail = failing(step, fault);
      await write("a/b", body(content));
      expect(await store.size("a/b")).toBe(content.length);
      expect((await buffer(store.read("a/b"))).equals(content)).toBe(true);
      await store.remove("a/b");
      expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
    }
  });

  it.each<[string, Fault, string]>([
    ["CreateMultipartUpload", [503, "SlowDown"], "overloaded or out of order"],
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
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        yield Buffer.alloc(1024 ** 2);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const source = Readable.from(endless());
    await expect(opened.store.write("a/b", source)).rejects.toMatchObject({ kind: "unavailable" });
    expect(source.destroyed).toBe(true);
    expect(opened.s3.uploads.size).toBe(0);
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
    const etag = s3.objects.get("a/b")?.etag;
    expect(reads.slice(1).every(({ headers }) => headers["if-match"] === etag)).toBe(true);

    s3.fail = failing("GetObject", { cutAfterBytes: 1_000 }, 2);
    const part = await buffer(store.read("a/b", { start: 77, end: 9_000 }));
    expect(part.equals(LARGE.subarray(77, 9_001))).toBe(true);
  });

  it("never mixes two versions of a file", async () => {
    await using opened = await open();
    const { s3, store } = opened;
    await store.write("a/b", body(LARGE));
    s3.fail = failing("GetObject", { cutAfterBytes: 1_000_000 });
    const iterator = store.read("a/b")[Symbol.asyncIterator]();
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
  it("give the bytes to anyone who has one, for its time, as what they are", async () => {
    await using opened = await open();
    const { s3, store } = opened;
    await store.write("a/b.png", body("picture"));
    // Its name is public, and leads here.
    const elsewhere = new URL(s3.bucket.endpoint);
    elsewhere.hostname = "bucket.example.com";
    const signed = await opened
      .other({ endpoint: elsewhere.origin })
      .temporaryUrl("a/b.png", { lastsMs: 60_000, mimeType: "image/png" });
    expect(signed).not.toContain(s3.secretAccessKey);
    const ask = (address: string) => s3.askAs(elsewhere.host, address);
    const url = signed ?? "";
    expect(await ask(url)).toEqual({ status: 200, type: "image/png", text: "picture" });
    expect(await ask(url.replace("b.png", "c.png"))).toMatchObject({ status: 403 });
    expect(await ask(url.replace("image%2Fpng", "text%2Fhtml"))).toMatchObject({ status: 403 });
    s3.now = () => Date.now() + 62_000;
    expect(await ask(url)).toMatchObject({ status: 403 });
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
      await expect(store.write("a/b", body(LARGE))).rejects.toMatchObject(wanted);
      expect(await store.examine()).toEqual([{ verdict: "problem", text: wanted.message }]);
      const error: unknown = await store.write("a/b", body("x")).catch((thrown: unknown) => thrown);
      const shown = inspect(error, { depth: 20, showHidden: true });
      for (const secret of [opened.s3.secretAccessKey, "canary-wrong-secret", "Signature="])
        expect(shown).not.toContain(secret);
    },
  );

  it("does not mind a clock that is wrong", async () => {
    await using opened = await open();
    opened.s3.now = () => Date.now() + 3_600_000;
    await opened.store.write("a/b", body("x"));
    expect(await text(opened.store.read("a/b"))).toBe("x");
  });

  it("is told from one that is only out of reach", async () => {
    await using opened = await open();
    expect(await opened.store.assertSettings()).toEqual({ isReachable: true });
    opened.s3.fail = () => [503, "ServiceUnavailable"];
    expect(await opened.store.assertSettings()).toEqual({ isReachable: false });
    opened.s3.fail = () => "cut before";
    expect(await opened.store.assertSettings()).toEqual({ isReachable: false });
    await expect(opened.store.size("a/b")).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("does not answer"),
    });
  });
});

describe("examining a bucket", () => {
  it("writes, reads and deletes a probe, and says each", async () => {
    await using opened = await open();
    expect(await opened.store.examine()).toEqual(
      [
        `the bucket posthorn-test at ${opened.s3.bucket.endpoint} answers and knows the key`,
        "a probe object was written",
        "it was read back, whole and in part",
        "it was deleted",
      ].map((said) => ({ verdict: "ok", text: said })),
    );
    expect(opened.s3.objects.size).toBe(0);
  });

  it("tells what the key may not do", async () => {
    await using unlisted = await open({ mayList: false });
    const ofKey = await unlisted.store.examine();
    expect(ofKey.filter(({ verdict }) => verdict !== "ok")).toEqual([
      { verdict: "problem", text: expect.stringContaining("s3:ListBucket.") },
    ]);
    await using opened = await open();
    for (const operation of ["DeleteObject", "PutObject"]) {
      opened.s3.fail = failing(operation, [403, "AccessDenied"]);
      const text = expect.stringContaining("may not do this");
      expect((await opened.store.examine()).at(-1)).toEqual({ verdict: "problem", text });
    }
  });
});
