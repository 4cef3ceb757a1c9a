import { describe, expect, it } from "vitest";
import { StillProcessing } from "../../src/ports/publish-io.ts";
import { SECOND } from "../../src/domain/time.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const NO_MEDIA = { forPost: () => ({}) as never, release: async () => {} };
const PROBLEM = "caption: is too long by now. Shorten it.";

/** A platform whose rules may become stricter, and that works on a post for a while. */
async function setUp(): Promise<{ ctx: TestContext; sent: string[]; rules: { isStrict: boolean } }> {
  const sent: string[] = [];
  const rules = { isStrict: false };
  const platform = scriptedPlatform({
    capabilities: TEXT_CAPABILITIES,
    check: () => ({ errors: rules.isStrict ? [PROBLEM] : [], warnings: [] }),
    publish: async (post, io) => {
      const id = await io.effect({
        step: "upload",
        request: {},
        send: async () => (sent.push(post.id), post.id),
        reconcile: async () => ({ outcome: "send_again" }),
      });
      if (!rules.isStrict) throw new StillProcessing(5 * SECOND);
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  return { ctx: await createTestContext({ platformList: [platform], media: NO_MEDIA }), sent, rules };
}

describe("a platform's check", () => {
  it("is asked once more before anything leaves", async () => {
    const { ctx, sent, rules } = await setUp();
    rules.isStrict = true;
    const { id } = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "failed", error: PROBLEM });
    expect(sent).toEqual([]);
  });

  it("does not end a post of which something left", async () => {
    const { ctx, sent, rules } = await setUp();
    const { id } = await addPost(ctx, await addAccount(ctx));
    await drain(ctx);
    expect((await readPost(ctx, id)).status).not.toBe("failed");
    rules.isStrict = true;
    await ctx.clock.advance(10 * SECOND);
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "published" });
    expect(sent).toEqual([id]);
  });
});
