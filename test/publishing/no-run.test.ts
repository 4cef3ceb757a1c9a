import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, readPost, runTick } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

/* A post that was sent, and on which the next run cannot even begin: what is known of it is in its ledger. */

let ctx: TestContext;
let isAnswered: boolean;

beforeEach(async () => {
  isAnswered = true;
  const place = { platformPostId: "1", platformUrl: null };
  const platform = scriptedPlatform({
    publish: async (_post, io) => {
      await io.effect<string>({
        step: "create",
        request: {},
        send: async () => {
          if (isAnswered) return "1";
          throw new PlatformFault("ambiguous", "The answer was lost.");
        },
        reconcile: async () => ({ outcome: "ask_again", afterMs: 1_000 }),
        live: () => place,
      });
      await io.followUp("The comment", async () => {
        throw new PlatformFault("transient", "The platform is busy.");
      });
      return { state: "live", ...place };
    },
  });
  const media = { forPost: () => ({}) as never, release: async () => {} };
  ctx = await createTestContext({ platformList: [platform], media });
});
afterEach(() => ctx[Symbol.asyncDispose]());

/** After its process ended, at its next try, and with fields that the platform took once. */
async function sentAndLeft(set: { metadata?: string }): Promise<string> {
  const { id } = await addPost(ctx, await addAccount(ctx));
  await runTick(ctx);
  // A process that ends says nothing of a doubt.
  await queryOf(ctx.store)
    .updateTable("posts")
    .set({ in_doubt: 0, ...set })
    .where("id", "=", id)
    .execute();
  await ctx.clock.advance(MINUTE);
  return id;
}

const UNFIT = { metadata: '{"removed":"field"}' };

describe("a post on which no run can begin", () => {
  it("is not said to have failed for certain where its answer was lost", async () => {
    isAnswered = false;
    const id = await sentAndLeft(UNFIT);
    await runTick(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "publishing", in_doubt: 1 });
  });

  it("stays published, and tells that the rest did not go through", async () => {
    const id = await sentAndLeft(UNFIT);
    await runTick(ctx);
    const row = await readPost(ctx, id);
    expect(row).toMatchObject({ status: "published", error: null, next_at: null, lease_worker: null });
    expect(row.warnings).toContain("fields do not fit");
  });

  it("cannot be changed or cancelled where it was to be stopped before it began", async () => {
    isAnswered = false;
    const id = await sentAndLeft({});
    await runTick(ctx, AbortSignal.abort(new Error("The publisher is stopping.")));
    expect(await readPost(ctx, id)).toMatchObject({ status: "publishing", in_doubt: 1, lease_worker: null });
  });
});
