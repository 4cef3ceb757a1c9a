import { expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { Reconciled } from "../../src/ports/publish-io.ts";
import { createTestContext } from "../support/context.ts";
import { addAccount, addPost, readPost, runTick } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

const ABSENT: Reconciled<string> = { outcome: "send_again", isStillInDoubt: false };
const IN_DOUBT: Reconciled<string> = { outcome: "send_again", isStillInDoubt: true };

/** Its first answer is lost, and nothing runs for so long after it. */
async function lostAndDown(
  downMs: number,
  platform: {
    readonly found: Reconciled<string>;
    readonly hasUpload?: boolean;
    readonly tellsLive?: boolean;
  },
) {
  const { found, hasUpload = false, tellsLive = false } = platform;
  let sent = 0;
  const scripted = scriptedPlatform({
    publish: async (_post, io) => {
      const again = async (): Promise<Reconciled<string>> => ABSENT;
      if (hasUpload)
        await io.effect<string>({ step: "upload", request: {}, send: async () => "1", reconcile: again });
      const id = await io.effect<string>({
        step: "create",
        request: {},
        send: async () => {
          sent += 1;
          if (sent === 1) throw new PlatformFault("ambiguous", "The answer was lost.");
          return "1";
        },
        reconcile: async () => found,
        ...(tellsLive && { live: (id: string) => ({ platformPostId: id, platformUrl: null }) }),
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  const media = { forPost: () => ({}) as never, release: async () => {} };
  await using ctx = await createTestContext({ platformList: [scripted], media });
  const post = await addPost(ctx, await addAccount(ctx));
  await runTick(ctx);
  await ctx.clock.advance(downMs);
  await runTick(ctx);
  const { status, error, in_doubt: inDoubt } = await readPost(ctx, post.id);
  return { sent, status, error, inDoubt };
}

const MISSED = { sent: 1, status: "failed", inDoubt: 0, error: expect.stringMatching(/^It missed its time/) };
const OUT = { sent: 2, status: "published", inDoubt: 0 };

it.each<[what: string, downMs: number, platform: Parameters<typeof lostAndDown>[1], seen: object]>([
  ["that is not there goes out within its time", 50 * MINUTE, { found: ABSENT }, OUT],
  ["that is not there goes out no later", 85 * MINUTE, { found: ABSENT }, MISSED],
  [
    "of which only an upload is there goes out no later",
    85 * MINUTE,
    { found: ABSENT, hasUpload: true, tellsLive: true },
    MISSED,
  ],
  ["that is begun is finished", 85 * MINUTE, { found: ABSENT, hasUpload: true }, OUT],
  ["in doubt is sent again while doubts are settled", 65 * MINUTE, { found: IN_DOUBT }, OUT],
  [
    "in doubt stays in doubt after that",
    85 * MINUTE,
    { found: IN_DOUBT },
    { sent: 1, status: "failed", inDoubt: 1, error: expect.stringMatching(/outcome unknown/) },
  ],
])("a post %s", async (_what, downMs, platform, seen) => {
  expect(await lostAndDown(downMs, platform)).toMatchObject(seen);
});
