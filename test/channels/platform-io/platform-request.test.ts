import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { DAY } from "../../../src/domain/time.ts";
import { MediaUnavailable } from "../../../src/ports/media.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import {
  PlatformFault,
  type PlatformRequest,
  type PlatformResponse,
} from "../../../src/ports/platform-io.ts";
import { readAnswer } from "../../../src/channels/platform-io/platform-request.ts";
import { createConnectIo } from "../../../src/channels/platform-io/connect-io.ts";
import { createPhotobox } from "../../support/connect-fixtures.ts";
import type { Liveness } from "../../../src/store/engine/engine.ts";
import { createTestContext } from "../../support/context.ts";
import { listen } from "../../support/listen.ts";

const closers: (() => PromiseLike<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener): Promise<number> {
  const listening = await listen(createServer(listener));
  closers.push(() => listening[Symbol.asyncDispose]());
  return listening.port;
}

/** What a platform has to ask with, and this port alone is open to it. */
async function openIo(port: number, signal: AbortSignal, liveness: Partial<Liveness> = {}) {
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port }] });
  const base = await createTestContext({
    platformList: [createPhotobox().platform],
    outbound,
    feed: {} as never,
  });
  closers.push(
    () => base[Symbol.asyncDispose](),
    () => outbound[Symbol.asyncDispose](),
  );
  const ctx = { ...base, store: { ...base.store, liveness: { ...base.store.liveness, ...liveness } } };
  return createConnectIo(ctx, { provider: "photobox", ownerId: "default" }, signal);
}

async function ask(
  listener: RequestListener,
  request: Partial<PlatformRequest>,
  signal = new AbortController().signal,
) {
  const port = await serve(listener);
  const io = await openIo(port, signal);
  return io
    .request({ method: "POST", url: `http://127.0.0.1:${port}/x`, json: { a: 1 }, ...request })
    .catch((error: unknown) => error);
}

describe("a request to a real server", () => {
  it("brings JSON there and back", async () => {
    const answer = await ask((request, response) => {
      expect(request.headers["content-type"]).toBe("application/json");
      request.pipe(response);
    }, {});
    expect(answer).toMatchObject({ status: 200, json: { a: 1 } });
  });

  it.each([
    [false, "ambiguous"],
    [true, "transient"],
  ])("reads a connection that breaks with isIdempotent %s as %s", async (isIdempotent, kind) => {
    const broken = await ask((request) => void request.socket.destroy(), { isIdempotent });
    const cut = await ask(
      (_request, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write('{"id":', () => response.destroy());
      },
      { isIdempotent },
    );
    expect([broken, cut]).toMatchObject([{ kind }, { kind }]);
  });

  it.each([
    [{ posts: [{ id: 7 }, {}] }, "posts.id"],
    [{}, "posts"],
    [{ posts: [{ id: "seven" }], error: "no" }, "posts.id"],
    [{ posts: [], by: { "ignore all rules": "no" } }, ""],
    [null, ""],
  ])("names the key that the answer %j lacks", async (json, key) => {
    const schema = z.union([
      z.object({ moved: z.object({ to: z.string(), from: z.string() }), since: z.string() }),
      z.object({
        posts: z.array(z.object({ id: z.int() })),
        by: z.record(z.string(), z.int()).default({}),
      }),
    ]);
    const read = (method: "GET" | "POST") => () =>
      readAnswer({ title: "Photobox" } as never, {
        schema,
        request: { method, url: "https://photobox.example/" },
        response: { status: 200, headers: {}, text: JSON.stringify(json), json },
      });
    const end = key === "" ? "." : `: its answer has no usable ${key}.`;
    expect(read("GET")).toThrow(`Photobox did not answer properly${end}`);
    const what = key === "" ? "was lost" : `has no usable ${key}`;
    expect(read("POST")).toThrow(`The answer of Photobox ${what}, so it may have done what was asked.`);
    const told = key.split(".").at(-1) ?? "";
    expect(read("GET")).toThrow(expect.objectContaining({ cause: expect.stringContaining(told) }));
  });

  it("reads an answer without end, and one that does not come, as lost", async () => {
    const endless = await ask((_request, response) => {
      const more = (): void =>
        void response.write(Buffer.alloc(256 * 1024), (error) =>
          error instanceof Error ? undefined : setImmediate(more),
        );
      more();
    }, {});
    const silent = await ask(() => {}, { timeoutMs: 50 });
    expect([endless, silent]).toMatchObject([{ kind: "ambiguous" }, { kind: "ambiguous" }]);
  });

  it("reads an abort on the way as lost", async () => {
    const gone = new AbortController();
    expect(await ask(() => gone.abort(), {}, gone.signal)).toMatchObject({ kind: "ambiguous" });
  });

  it("knows that nothing was sent where nobody listens, and refuses private addresses", async () => {
    const unused = await listen(createServer());
    await unused[Symbol.asyncDispose]();
    const { port } = unused;
    const io = await openIo(port, new AbortController().signal);
    await expect(io.request({ method: "POST", url: `http://127.0.0.1:${port}/` })).rejects.toMatchObject({
      kind: "not_sent",
    });
    await expect(io.request({ method: "POST", url: "http://10.0.0.1/" })).rejects.toMatchObject({
      kind: "rejected",
    });
  });

  it("writes nothing where it turns out in the last moment that others take this process for dead", async () => {
    const asked: string[] = [];
    const port = await serve(({ url }, response) => {
      asked.push(url ?? "");
      response.end();
    });
    const tie = new AbortController();
    let isLost = false;
    const check = (): void => (isLost ? tie.abort() : undefined);
    const io = await openIo(port, tie.signal, { check });
    await io.request({ method: "POST", url: `http://127.0.0.1:${port}/alive` });
    isLost = true;
    await expect(io.request({ method: "POST", url: `http://127.0.0.1:${port}/dead` })).rejects.toMatchObject({
      kind: "not_sent",
    });
    expect(asked).toEqual(["/alive"]);
  });
});

/** A body as the platform gets it. */
async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

describe("what is sent", () => {
  /** What arrived of a request. */
  const sent = async (what: Partial<PlatformRequest>) => {
    let got: { url: string; headers: IncomingMessage["headers"]; body: Buffer } | null = null;
    const answer = await ask(
      (request, response) =>
        // Nothing has arrived of one that breaks off.
        void bytesOf(request).then(
          (body) => {
            got = { url: request.url ?? "", headers: request.headers, body };
            response.end();
          },
          () => {},
        ),
      { json: undefined as never, ...what },
    );
    return { answer, got: got as { url: string; headers: IncomingMessage["headers"]; body: Buffer } | null };
  };

  it("adds a query to the address, spaces as %20", async () => {
    const query = { "media_ids[]": [1, 2], scope: "a b+c", none: null, left: undefined, is: false };
    const { got } = await sent({ query });
    expect(got?.url).toBe("/x?media_ids%5B%5D=1&media_ids%5B%5D=2&scope=a%20b%2Bc&is=false");
  });

  it("encodes a form", async () => {
    const { got } = await sent({ form: { grant_type: "refresh_token", text: "ä & b" } });
    expect(got?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(got?.body.toString()))).toEqual({
      grant_type: "refresh_token",
      text: "ä & b",
    });
  });

  it("encodes parts, of a length that is known beforehand", async () => {
    const film = Buffer.alloc(300_000, "film");
    const { got } = await sent({
      multipart: [
        { name: "chat_id", text: "-100 ä" },
        { name: "json", text: '{"a":1}', mimeType: "application/json" },
        {
          name: "photo",
          fileName: 'a "b"\r\nX-Evil: 1.png',
          mimeType: "image/png",
          bytes: Buffer.from("png"),
        },
        {
          name: "video",
          fileName: "film.mp4",
          mimeType: "video/mp4",
          sizeBytes: film.length,
          open: () => Readable.from([film.subarray(0, 100_000), film.subarray(100_000)]),
        },
      ],
    });
    expect(got?.headers).toMatchObject({ "content-length": String(got?.body.length) });
    expect(got?.headers["transfer-encoding"]).toBeUndefined();
    const headers = { "content-type": got?.headers["content-type"] ?? "" };
    const form = await new Response(new Uint8Array(got?.body ?? []), { headers }).formData();
    expect(form.get("chat_id")).toBe("-100 ä");
    const json = 'name="json"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n';
    expect(got?.body.includes(json)).toBe(true);
    const photo = form.get("photo") as File;
    expect([photo.type, await photo.text()]).toEqual(["image/png", "png"]);
    expect(photo.name).toBe('a "b"\r\nX-Evil: 1.png');
    expect(got?.body.includes("\r\nX-Evil")).toBe(false);
    const video = form.get("video") as File;
    expect(Buffer.from(await video.arrayBuffer()).equals(film)).toBe(true);
  });

  it("reads a part only as fast as it is taken", async () => {
    const chunk = Buffer.alloc(64 * 1024);
    const chunks = 4_096;
    let made = 0;
    const answer = await ask(() => {}, {
      json: undefined as never,
      timeoutMs: 300,
      multipart: [
        {
          name: "video",
          fileName: "film.mp4",
          mimeType: "video/mp4",
          sizeBytes: chunks * chunk.length,
          open: () =>
            Readable.from(
              (function* () {
                for (; made < chunks; made++) yield chunk;
              })(),
            ),
        },
      ],
    });
    expect(answer).toMatchObject({ kind: "ambiguous" });
    expect(made).toBeLessThan(chunks / 4);
  });

  it.each([
    [
      "breaks off",
      () =>
        Readable.from(
          (function* () {
            yield Buffer.from("half");
            throw new MediaUnavailable("The source of the media broke off.");
          })(),
        ),
    ],
    ["is shorter than it was", () => Readable.from([Buffer.from("short")])],
  ])("knows that nothing was done where the media %s", async (_what, open) => {
    const { answer, got } = await sent({
      multipart: [{ name: "video", fileName: "a.mp4", mimeType: "video/mp4", sizeBytes: 100, open }],
    });
    expect(answer).toMatchObject({ kind: "not_sent", isNotDone: true });
    expect(got).toBeNull();
  });
});

describe("what is answered", () => {
  const answering =
    (status: number, body = "", headers: Record<string, string> = {}): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, headers).end(body);

  it("gives integers beyond 2^53 as text", async () => {
    expect(await ask(answering(200, '{"id":7311223344556677889}'), {})).toMatchObject({
      json: { id: "7311223344556677889" },
    });
  });

  it("asks the platform what answers of 2xx and of others mean", async () => {
    const classify = ({ status, json }: PlatformResponse): PlatformFault | "ok" | null => {
      if (status === 308) return "ok";
      const isRefused = z.object({ ok: z.literal(false) }).safeParse(json).success;
      return isRefused ? new PlatformFault("rejected", "The text is too long.", { field: "caption" }) : null;
    };
    expect(await ask(answering(308, "", { range: "bytes=0-9" }), { classify })).toMatchObject({
      status: 308,
    });
    const refused = await ask(answering(200, '{"ok":false,"error":"msg_too_long"}'), { classify });
    expect(refused).toMatchObject({
      kind: "rejected",
      sentence: "caption: The text is too long.",
      field: "caption",
      httpStatus: 200,
    });
    expect(String((refused as PlatformFault).cause)).toMatch(/^Error: HTTP 200 from 127.*msg_too_long/);
  });

  it("fills in how long to wait, and that a refusal of 4xx did nothing", async () => {
    const classify = () => new PlatformFault("rate", "Too many posts today.", { scope: "app" });
    const limited = await ask(answering(403, "", { "x-ratelimit-reset": "90" }), { classify });
    expect(limited).toMatchObject({ retryAfterMs: 90_000, isNotDone: true, scope: "app" });
    expect(await ask(answering(429), {})).toMatchObject({ kind: "rate", isNotDone: true });
    expect(await ask(answering(503), { classify })).toMatchObject({ kind: "rate", isNotDone: false });
  });

  it.each([
    ["0", 10_000],
    ["-5", 10_000],
    ["45", 45_000],
    ["315360000", DAY],
    ["Fri, 31 Dec 9999 23:59:59 GMT", DAY],
  ])("waits ten seconds at least and a day at most: Retry-After %s", async (value, waitMs) => {
    expect(await ask(answering(429, "", { "retry-after": value }), {})).toMatchObject({
      retryAfterMs: waitMs,
    });
  });

  it("strikes credentials out of what it quotes, wherever they stood", async () => {
    const secrets = ["canary-query-1", "canary-form-2", "canary-json-3", "canary-head-4", "canary/path 5"];
    const [inQuery = "", inForm = "", inJson = "", inHeader = ""] = secrets;
    const echo: RequestListener = (request, response) =>
      void bytesOf(request).then((body) => {
        response.writeHead(400).end(`${request.url} ${JSON.stringify(request.headers)} ${body.toString()}`);
      });
    const requests: Partial<PlatformRequest>[] = [
      { query: { access_token: inQuery } },
      { json: undefined as never, form: { client_secret: inForm } },
      { json: { password: inJson } },
      { headers: { "api-key": inHeader } },
    ];
    for (const request of requests) {
      const fault = await ask(echo, request);
      expect(String((fault as PlatformFault).cause)).toMatch(/HTTP 400.*\[secret\]/);
      expect(String((fault as PlatformFault).cause)).not.toMatch(/canary/);
    }
  });
});
