import type { RequestListener, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { SECOND } from "../../src/domain/time.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { startCanary } from "../support/canary.ts";
import type { FakeClock } from "../support/clock.ts";
import { createFileContext } from "../support/file-context.ts";
import { fixture } from "../support/media.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const PHOTO = fixture("photo.jpg");
const MAX_BYTES = 1 << 20;

const ANY_SIZE = {
  maxBytes: null,
  maxSeconds: null,
  minAspectRatio: null,
  maxAspectRatio: null,
  maxItems: 1,
};
const PICTURES = {
  required: false,
  maxItems: 1,
  accepts: [{ kind: "image" as const, mimeTypes: ["image/jpeg"], ...ANY_SIZE }],
};

/** Sends the medium on as a real platform file does, and counts what arrived whole. */
function mediaPlatform(published: Buffer[]): AnyPlatform {
  return scriptedPlatform({
    capabilities: { ...TEXT_CAPABILITIES, media: PICTURES },
    publish: async (post, io) => {
      const item = await io.media.item(post.mediaUrl);
      await io.effect({
        step: "send",
        request: { sha256: item.facts.sha256 },
        send: async () => {
          published.push(await buffer(item.open()));
          return null;
        },
        reconcile: async () => ({ outcome: "unknown", reason: "never asked" }),
      });
      return { state: "live", platformPostId: post.id, platformUrl: null };
    },
  });
}

async function trickle(response: ServerResponse, clock: FakeClock): Promise<void> {
  response.writeHead(200, { "content-type": "image/jpeg" });
  while (!response.destroyed) {
    response.write("x");
    await clock.advance(10 * SECOND);
    await delay(1);
  }
}

async function pour(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "image/jpeg" });
  while (!response.destroyed) {
    if (!response.write(Buffer.alloc(1 << 16, "x"))) await delay(1);
  }
}

interface Source {
  readonly what: string;
  readonly serve: (clock: FakeClock) => RequestListener;
  readonly error: RegExp;
}

const SOURCES: readonly Source[] = [
  {
    what: "is gone when it is needed (404)",
    serve: () => (_, response) => response.writeHead(404).end(),
    error: /media.*(404|not there|not found|gone)/i,
  },
  {
    what: "breaks off in the middle",
    serve: () => (_, response) => {
      response.writeHead(200, { "content-type": "image/jpeg", "content-length": String(PHOTO.length) });
      response.write(PHOTO.subarray(0, PHOTO.length / 2), () => response.destroy());
    },
    error: /media.*(broke off|did not answer|whole)/i,
  },
  {
    what: "is shorter than it says and ends there",
    serve: () => (_, response) => {
      response.writeHead(200, {
        "content-type": "image/jpeg",
        "content-length": String(PHOTO.length + 100),
        connection: "close",
      });
      response.end(PHOTO);
    },
    error: /media.*(broke off|did not answer|whole)/i,
  },
  {
    what: "is slower than 1 kB a second",
    serve: (clock) => (_, response) => void trickle(response, clock),
    error: /too slowly|did not answer/i,
  },
  { what: "never ends", serve: () => (_, response) => void pour(response), error: /large|big|MiB|limit/i },
  {
    what: "redirects to a private address",
    serve: () => (_, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end(),
    error: /not allowed|private|internal|address/i,
  },
  {
    what: "redirects in a circle",
    serve: () => (request, response) => response.writeHead(302, { location: `${request.url ?? ""}x` }).end(),
    error: /redirect|answer/i,
  },
  {
    what: "answers 503",
    serve: () => (_, response) => response.writeHead(503).end(),
    error: /media.*(503|answer|later|problem)/i,
  },
];

describe("media whose source", { timeout: 60_000 }, () => {
  it.each(SOURCES)(
    "$what: the post fails, says why, and nothing of it is published",
    async ({ serve, error }) => {
      const published: Buffer[] = [];
      await using ctx = await createFileContext({
        maxBytes: MAX_BYTES,
        platformList: [mediaPlatform(published)],
      });
      await using canary = await startCanary(serve(ctx.clock));
      const post = await addPost(ctx, await addAccount(ctx), { media_url: `${canary.origin}/photo.jpg` });
      for (let step = 0; step < 400 && (await readPost(ctx, post.id)).status !== "failed"; step++) {
        await drain(ctx);
        await ctx.clock.advance(30 * SECOND);
      }
      const end = await readPost(ctx, post.id);
      expect({ status: end.status, inDoubt: end.in_doubt, published }).toEqual({
        status: "failed",
        inDoubt: 0,
        published: [],
      });
      expect(end.error).toMatch(error);
    },
  );

  it("is there again a minute later: the post goes out then, whole", async () => {
    const published: Buffer[] = [];
    await using ctx = await createFileContext({ platformList: [mediaPlatform(published)] });
    let isBack = false;
    await using canary = await startCanary((_, response) => {
      if (isBack) response.writeHead(200, { "content-type": "image/jpeg" }).end(PHOTO);
      else
        response
          .writeHead(200, { "content-length": String(PHOTO.length) })
          .write(PHOTO.subarray(0, 10), () => response.destroy());
    });
    const post = await addPost(ctx, await addAccount(ctx), { media_url: `${canary.origin}/photo.jpg` });
    await drain(ctx);
    isBack = true;
    for (let step = 0; step < 4; step++) {
      await ctx.clock.advance(30 * SECOND);
      await drain(ctx);
    }
    expect(await readPost(ctx, post.id)).toMatchObject({ error: null, status: "published" });
    expect(published).toEqual([PHOTO]);
  });
});
