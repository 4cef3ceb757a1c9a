import { describe, expect, it } from "vitest";
import type { Outbound } from "../../src/ports/outbound.ts";
import { MINUTE } from "../../src/domain/time.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { createTestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers, type Fault } from "./class-servers.ts";

const FAULTS: readonly Fault[] = [
  "drop-before",
  "drop-after",
  "500-before",
  "500-after",
  "429-before",
  "garbage-after",
  "truncate-after",
  "hang-before",
  "hang-after",
  "trickle-after",
];
const CLASSES = Object.keys(CLASS_PLATFORMS);

/** Faults that a blind platform cannot tell from a post that went out. */
const MINUTES_UNTIL_SETTLED = 75;

/** Patience with a platform that hangs; the product's own is half a minute. */
const PATIENCE_MS = 150;

async function publishThrough(
  provider: string,
  faults: readonly Fault[],
): Promise<{ status: string; inDoubt: number; count: number; violations: readonly string[] }> {
  await using servers = await startClassServers();
  await using door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  const outbound: Outbound = {
    ...door,
    request: (request) => door.request({ ...request, timeoutMs: PATIENCE_MS }),
  };
  const platform = CLASS_PLATFORMS[provider];
  await using ctx = await createTestContext({
    platformList: platform === undefined ? [] : [platform],
    outbound,
    media: { forPost: () => ({}) as never, release: async () => {} },
    settings: {
      timezone: "UTC",
      maxLatenessMs: 60 * MINUTE,
      uploadFolders: [],
      platformSettings: { [`POSTHORN_${provider.toUpperCase()}_BASE_URL`]: servers.baseUrl },
    },
  });
  const post = await addPost(ctx, await addAccount(ctx, { provider }), { caption: "one post" });
  servers.misbehave(...faults);
  for (let minute = 0; minute < MINUTES_UNTIL_SETTLED; minute++) {
    await drain(ctx);
    const { status } = await readPost(ctx, post.id);
    if (status === "published" || status === "failed") break;
    await ctx.clock.advance(MINUTE);
  }
  const row = await readPost(ctx, post.id);
  return {
    status: row.status,
    inDoubt: row.in_doubt,
    count: servers.visible().get("one post") ?? 0,
    violations: servers.violations,
  };
}

/**
 * Of a blind platform nothing can be asked: what is lost is unknown, never a second message. Of every other:
 * published, once.
 */
function assertTruth(
  provider: string,
  faults: readonly Fault[],
  end: Awaited<ReturnType<typeof publishThrough>>,
): void {
  // A 429 says that nothing was done, also where nothing can be asked.
  const lost = faults.filter((fault) => fault !== "429-before");
  if (provider !== "class_f" || lost.length === 0) {
    expect({ faults, ...end }).toEqual({
      faults,
      status: "published",
      inDoubt: 0,
      count: 1,
      violations: [],
    });
    return;
  }
  expect({ faults, ...end }).toMatchObject({ status: "failed", inDoubt: 1 });
  expect(end.count).toBe(lost[0]?.endsWith("-after") === true ? 1 : 0);
}

describe("a platform that answers badly", () => {
  const cases = CLASSES.flatMap((provider) => FAULTS.map((fault) => [provider, fault] as const));
  it.each(cases)("%s, %s: exactly one post, and no lie", async (provider, fault) => {
    assertTruth(provider, [fault], await publishThrough(provider, [fault]));
  });

  it.each(CLASSES.filter((provider) => provider !== "class_f"))(
    "%s: one bad answer after the other",
    async (provider) => {
      const faults = ["500-before", "drop-before", "429-before", "truncate-after"] as const;
      assertTruth(provider, faults, await publishThrough(provider, faults));
    },
  );
});
