import { createServer, type RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { startCanary } from "../../support/canary.ts";
import { createFileContext, type FileContext } from "../../support/file-context.ts";
import { fixture, pngOf } from "../../support/media.ts";
import { addAccount, addPost, drain, readPost } from "../../support/publishing.ts";
import { startRangedSource, videoOf } from "../../support/ranged-source.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";
import { listen } from "../../support/listen.ts";

const MAX_BYTES = 4_000_000;
const LARGE = videoOf(1_600_000);
const SMALL = fixture("clip.mp4");

const closers: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of closers.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function closing<T extends AsyncDisposable>(one: T): T {
  closers.push(one);
  return one;
}

/** A platform's server that counts the uploads that reached it whole. */
async function startReceiver(): Promise<{ url: string; whole: Buffer[] }> {
  const whole: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request).catch(() => null);
    if (bytes === null || bytes.length !== Number(request.headers["content-length"])) return;
    whole.push(bytes);
    response.end("{}");
  });
  const listening = await listen(server);
  closing({
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  });
  return { url: `${listening.origin}/`, whole };
}

/** Uploads in one request, as most platforms do. */
function platformAt(url: string): AnyPlatform {
  const any = { maxBytes: null, maxSeconds: null, minAspectRatio: null, maxAspectRatio: null, maxItems: 1 };
  const accepts = [{ kind: "video" as const, mimeTypes: ["video/mp4"], ...any }];
  return scriptedPlatform({
    capabilities: { ...TEXT_CAPABILITIES, media: { required: false, maxItems: 1, accepts } },
    publish: async (post, io) => {
      const item = await io.media.item(post.mediaUrl);
      await io.effect({
        step: "upload",
        request: { url: post.mediaUrl },
        send: async () => {
          const headers = { "content-length": String(item.facts.sizeBytes) };
          await io.request({ method: "PUT", url, headers, body: () => item.open(), isIdempotent: true });
          return true;
        },
        reconcile: async () => ({ outcome: "send_again" }),
      });
      return { state: "live", platformPostId: post.id, platformUrl: null };
    },
  });
}

/** Publishes a post with this media to its end, the clock moved to each next try. */
async function publish(
  mediaUrl: string,
  maxLatenessMs = 60 * 60_000,
): Promise<{ post: PostRow; ctx: FileContext; whole: Buffer[] }> {
  const receiver = await startReceiver();
  const ctx = closing(
    await createFileContext({
      maxBytes: MAX_BYTES,
      platformList: [platformAt(receiver.url)],
      feed: {} as never,
      settings: { timezone: "UTC", maxLatenessMs, uploadFolders: [], platformSettings: {} },
    }),
  );
  const { id } = await addPost(ctx, await addAccount(ctx), { media_url: mediaUrl });
  for (let round = 0; round < 40; round += 1) {
    await drain(ctx);
    const post = await readPost(ctx, id);
    if (post.status === "published" || post.status === "failed") return { post, ctx, whole: receiver.whole };
    await ctx.clock.advance(Math.max((post.next_at ?? 0) - ctx.clock.now(), 1_000));
  }
  throw new Error("The post did not come to an end.");
}

const serve = async (listener: RequestListener): Promise<string> =>
  closing(await startCanary(listener)).origin;

/** Writes for as long as somebody listens. */
const endless: RequestListener = (_request, response) => {
  const more = (): void => {
    while (response.write(Buffer.alloc(65_536))) if (response.destroyed) return;
    response.once("drain", more);
  };
  response.write(SMALL);
  more();
};

describe("publishing from a good source", () => {
  it.each([
    ["small", SMALL],
    ["large", LARGE],
  ])("brings a %s file whole", async (_what, bytes) => {
    const source = closing(await startRangedSource(bytes));
    const { post, whole } = await publish(source.origin);
    expect(post).toMatchObject({ status: "published", error: null });
    expect(whole.map((one) => one.equals(bytes))).toEqual([true]);
  });
});

describe("publishing from a source that", () => {
  const cases: readonly (readonly [string, RequestListener, RegExp])[] = [
    ["breaks off", (_request, response) => void response.write(SMALL, () => response.destroy()), /broke off/],
    [
      "sends less than it announced",
      (_request, response) => {
        response.writeHead(200, { "content-length": SMALL.length + 1 });
        response.write(SMALL, () => response.destroy());
      },
      /broke off/,
    ],
    [
      "announces less than the file has",
      (_request, response) =>
        void response.writeHead(200, { "content-length": SMALL.length - 500 }).end(SMALL.subarray(0, -500)),
      /cut off/,
    ],
    [
      "holds a file that was cut off",
      (_request, response) => void response.end(SMALL.subarray(0, 2_000)),
      /cut off/,
    ],
    ["never ends", endless, /larger than 4000000 bytes/],
    [
      "announces more than is taken",
      (_request, response) => void response.writeHead(200, { "content-length": MAX_BYTES + 1 }).write("x"),
      /larger than 4000000 bytes/,
    ],
    [
      "calls a page a video",
      (_request, response) => void response.setHeader("content-type", "video/mp4").end("<!doctype html>"),
      /web page/,
    ],
    ["hides a bomb", (_request, response) => void response.end(pngOf(30_000, 30_000)), /too many pixels/],
    [
      "is empty",
      (_request, response) => void response.writeHead(200, { "content-length": 0 }).end(),
      /empty/,
    ],
    [
      "sends it packed",
      (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(SMALL),
      /compressed/,
    ],
    ["is not found", (_request, response) => void response.writeHead(404).end(), /HTTP 404/],
    [
      "leads inside",
      (_request, response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
      /private/,
    ],
    [
      "leads in circles",
      (_request, response) => void response.writeHead(302, { location: "/" }).end(),
      /did not answer/,
    ],
    [
      "has trouble for good",
      (_request, response) => void response.writeHead(503).end(),
      /HTTP 503.*tried \d+ times/s,
    ],
  ];

  it.each(cases)("%s ends in a clear error, with nothing published", async (_what, listener, reason) => {
    const { post, whole } = await publish(await serve(listener));
    expect(post).toMatchObject({ status: "failed", in_doubt: 0, platform_post_id: null });
    expect(post.error).toMatch(reason);
    expect(whole).toEqual([]);
  });

  it("trickles ends in a clear error, with nothing published", async () => {
    let tick = (): void => {};
    const url = await serve((_request, response) => {
      response.write(SMALL.subarray(0, 1_000));
      const timer = setInterval(() => (response.write("x"), tick()), 5);
      response.on("close", () => clearInterval(timer));
    });
    const receiver = await startReceiver();
    const ctx = closing(
      await createFileContext({ platformList: [platformAt(receiver.url)], feed: {} as never }),
    );
    tick = () => void ctx.clock.advance(20_000);
    const { id } = await addPost(ctx, await addAccount(ctx), { media_url: url });
    for (let round = 0; round < 40 && (await readPost(ctx, id)).status !== "failed"; round += 1) {
      await drain(ctx);
      await ctx.clock.advance(60_000);
    }
    expect((await readPost(ctx, id)).error).toMatch(/too slowly/);
    expect(receiver.whole).toEqual([]);
  });
});
