import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { createOutbound } from "../../src/media/outbound.ts";
import { createTestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers, type Fault } from "./class-servers.ts";

const FAULTS: readonly Fault[] = ["drop-before", "drop-after", "500-before", "500-after", "429-before", "garbage-after", "truncate-after"];
const CLASSES = Object.keys(CLASS_PLATFORMS);

/** Faults that a blind platform cannot tell from a post that went out. */
const MINUTES_UNTIL_SETTLED = 75;

async function publishThrough(
  provider: string,
  faults: readonly Fault[],
): Promise<{ status: string; inDoubt: number; count: number; violations: readonly string[] }> {
  await using servers = await startClassServers();
  await using outbound = createOutbound({ allowedHosts: [], trustedOrigins: [servers.baseUrl] });
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
  return { status: row.status, inDoubt: row.in_doubt, count: servers.visible().get("one post") ?? 0, violations: servers.violations };
}

describe("a platform that answers badly", () => {
  const cases = CLASSES.flatMap((provider) => FAULTS.map((fault) => [provider, fault] as const));
  it.each(cases)("%s, %s: exactly one post, and no lie", async (provider, fault) => {
    const end = await publishThrough(provider, [fault]);
    if (provider === "class_f") {
      // Nothing can be asked: unknown, never a second message.
      expect(end).toMatchObject({ status: "failed", inDoubt: 1 });
      expect(end.count).toBe(fault.endsWith("-after") ? 1 : 0);
    } else {
      expect(end).toEqual({ status: "published", inDoubt: 0, count: 1, violations: [] });
    }
  });

  it.each(CLASSES.filter((provider) => provider !== "class_f"))("%s: one bad answer after the other", async (provider) => {
    const end = await publishThrough(provider, ["500-before", "drop-before", "429-before", "truncate-after"]);
    expect(end).toEqual({ status: "published", inDoubt: 0, count: 1, violations: [] });
  });
});
