import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../src/domain/time.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createTestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers } from "./class-servers.ts";

const CLASSES = Object.keys(CLASS_PLATFORMS);

/** By then a container (class D) is ready and is to be published. */
const CONTAINER_MS = 2 * SECOND;

/** Every request that changes something, with the moment of the publisher's clock. */
async function limitOnce(provider: string, retryAfter: "seconds" | "date", waitMs: number) {
  await using servers = await startClassServers();
  await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  await using ctx = await createTestContext({
    platformList: Object.values(CLASS_PLATFORMS),
    outbound,
    media: { forPost: () => ({}) as never, release: async () => {} },
    settings: {
      timezone: "UTC",
      maxLatenessMs: 60 * MINUTE,
      uploadFolders: [],
      platformSettings: { [`POSTHORN_${provider.toUpperCase()}_BASE_URL`]: servers.baseUrl },
    },
  });
  const start = ctx.clock.now();
  const requests: { text: string; at: number }[] = [];
  servers.onChange = (text) => {
    requests.push({ text, at: ctx.clock.now() - start });
    return true;
  };
  servers.retryAfter =
    retryAfter === "seconds" ? String(waitMs / SECOND) : new Date(start + waitMs).toUTCString();
  servers.misbehave("429-before");
  const limited = await addAccount(ctx, { provider });
  const posts = [
    await addPost(ctx, limited, { caption: "first" }),
    await addPost(ctx, limited, { caption: "second" }),
  ];
  await drain(ctx);
  const other = await addPost(ctx, await addAccount(ctx, { provider }), { caption: "other" });
  for (let second = 0; second < waitMs / SECOND + 5 * 60; second++) {
    await drain(ctx);
    await ctx.clock.advance(SECOND);
  }
  const ends = await Promise.all([...posts, other].map(({ id }) => readPost(ctx, id)));
  // The last one that came before the platform's patience was over is the one that it refused.
  const own = requests.filter(({ text }) => text !== "other");
  const limitedAt = own.filter(({ at }) => at <= CONTAINER_MS).at(-1)?.at ?? 0;
  const allowedAt = waitMs + (retryAfter === "seconds" ? limitedAt : 0);
  const tooSoon = own.filter(({ at }) => at > limitedAt && at < allowedAt);
  return {
    statuses: ends.map(({ status }) => status),
    tooSoon,
    visible: servers.visible(),
    otherAt: (ends[2]?.published_at ?? 0) - start,
  };
}

describe("a platform that asks to slow down", () => {
  it.each(["seconds", "date"] as const)(
    "by Retry-After in %s: its channel waits that long, and no other",
    async (form) => {
      for (const provider of CLASSES) {
        const { statuses, tooSoon, visible, otherAt } = await limitOnce(provider, form, 90 * SECOND);
        expect({ provider, statuses, tooSoon }).toEqual({
          provider,
          statuses: ["published", "published", "published"],
          tooSoon: [],
        });
        expect([...visible.values()]).toEqual([1, 1, 1]);
        expect(otherAt).toBeLessThan(30 * SECOND);
      }
    },
  );
});
