import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { createCipher } from "../../../src/store/engine/cipher.ts";
import { createTestContext } from "../../support/context.ts";
import { addAccount, addPost, readPost, runTick } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

it("repeats a step under the key it was first sent with, also when the secret key was replaced in between", async () => {
  const keys: string[] = [];
  const platform = scriptedPlatform({
    name: "scripted",
    capabilities: { ...TEXT_CAPABILITIES, reconciles: "server_key" },
    publish: async (_post, io) => {
      const id = await io.effect<string>({
        step: "create",
        request: {},
        send: async ({ key }) => {
          keys.push(key);
          if (keys.length === 1) throw new PlatformFault("ambiguous", "The answer was lost.");
          return "1";
        },
        settle: async () => ({ outcome: "send_again" }),
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  const media = { forPost: () => ({}) as never, release: async () => {} };
  await using ctx = await createTestContext({ platformList: [platform], media });
  const post = await addPost(ctx, await addAccount(ctx));
  await runTick(ctx);
  await ctx.clock.advance(60_000);
  await runTick({ ...ctx, cipher: createCipher(randomBytes(32)) });
  expect(keys).toHaveLength(2);
  expect(keys[1]).toBe(keys[0]);
  expect(await readPost(ctx, post.id)).toMatchObject({ status: "published" });
});
