import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MediaUnavailable } from "../../src/ports/media.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { Reconciled } from "../../src/ports/publish-io.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import { retryPost } from "../../src/posts/update-post.ts";
import { callOf, createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, readPost, runTick } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

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
        reconcile: async () => ({ outcome: "send_again" }),
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

it.each([
  [200, true],
  [503, false],
])(
  "tells whoever settles it that an answer of %i said that it was taken: %s",
  async (httpStatus, wasTaken) => {
    const told: boolean[] = [];
    const platform = scriptedPlatform({
      publish: async (_post, io) => {
        const id = await io.effect<string>({
          step: "create",
          request: {},
          send: async () => {
            throw new PlatformFault("ambiguous", "The answer was lost.", { httpStatus, wasTaken });
          },
          reconcile: async (context) => {
            told.push(context.wasTaken);
            return { outcome: "done", result: "1" };
          },
        });
        return { state: "live", platformPostId: id, platformUrl: null };
      },
    });
    const media = { forPost: () => ({}) as never, release: async () => {} };
    await using ctx = await createTestContext({ platformList: [platform], media });
    const post = await addPost(ctx, await addAccount(ctx));
    await runTick(ctx);
    await ctx.clock.advance(60_000);
    await runTick(ctx);
    expect(told).toEqual([wasTaken]);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published" });
  },
);

it("is sent again with the handle that settling it has saved", async () => {
  const handles: unknown[] = [];
  const platform = scriptedPlatform({
    publish: async (_post, io) => {
      const id = await io.effect<string>({
        step: "create",
        request: {},
        send: async ({ handle, saveHandle }) => {
          handles.push(handle);
          await saveHandle("lost");
          if (handles.length === 1) throw new PlatformFault("ambiguous", "The answer was lost.");
          return "1";
        },
        reconcile: async ({ saveHandle }) => {
          await saveHandle("found");
          return { outcome: "send_again" };
        },
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  const media = { forPost: () => ({}) as never, release: async () => {} };
  await using ctx = await createTestContext({ platformList: [platform], media });
  await addPost(ctx, await addAccount(ctx));
  await runTick(ctx);
  await ctx.clock.advance(60_000);
  await runTick(ctx);
  expect(handles).toEqual([null, "found"]);
});

describe("a step that was refused", () => {
  /** A post of one step: what each sending ends with, and what is said when it is asked about. */
  async function publishBy(
    faults: readonly (Error | null)[],
    settled: Reconciled<string> = { outcome: "unknown", reason: "Nobody can tell." },
    look: (ctx: TestContext, postId: string) => Promise<void> = async () => {},
    /** Begins a request to the platform, which is lost. */
    hasAsked = false,
  ) {
    let sent = 0;
    let asked = 0;
    const platform = scriptedPlatform({
      publish: async (_post, io) => {
        const id = await io.effect<string>({
          step: "create",
          request: {},
          send: async () => {
            if (hasAsked)
              await io.request({ method: "POST", url: "https://platform.example/" }).catch(() => null);
            const fault = faults[sent++] ?? null;
            if (fault !== null) throw fault;
            return "1";
          },
          reconcile: async () => {
            asked += 1;
            return settled;
          },
        });
        return { state: "live", platformPostId: id, platformUrl: null };
      },
    });
    const media = { forPost: () => ({}) as never, release: async () => {} };
    await using ctx = await createTestContext({ platformList: [platform], media });
    const post = await addPost(ctx, await addAccount(ctx));
    for (let minute = 0; minute < 90; minute++) {
      await runTick(ctx);
      await ctx.clock.advance(60_000);
    }
    await look(ctx, post.id);
    const { status, error } = await readPost(ctx, post.id);
    return { status, error, sent, asked };
  }

  const limited = new PlatformFault("rate", "Slow down.", { httpStatus: 429, retryAfterMs: 60_000 });

  it("by a 429 is sent again without asking, also where the platform is blind", async () => {
    expect(await publishBy([limited])).toEqual({ status: "published", error: null, sent: 2, asked: 0 });
  });

  it("stays open where the refusal does not say that nothing was done", async () => {
    const busy = new PlatformFault("rate", "Slow down.", { httpStatus: 503, retryAfterMs: 60_000 });
    expect(await publishBy([busy])).toMatchObject({ status: "failed", sent: 1, asked: 1 });
    const lost = new PlatformFault("ambiguous", "The answer was lost.");
    expect(await publishBy([lost])).toMatchObject({ status: "failed", sent: 1, asked: 1 });
  });

  it("is sent again where the fault itself says that nothing was done", async () => {
    const down = new PlatformFault("transient", "It is down.", { httpStatus: 503, isNotDone: true });
    expect(await publishBy([down])).toMatchObject({ status: "published", sent: 2, asked: 0 });
  });

  it("is sent again without asking where its media failed before anything had left", async () => {
    const broken = new MediaUnavailable("The picture's source did not answer.");
    expect(await publishBy([broken])).toEqual({ status: "published", error: null, sent: 2, asked: 0 });
    expect(await publishBy([broken], undefined, undefined, true)).toMatchObject({ sent: 1, asked: 1 });
  });

  it("stays in doubt over an earlier sending, whatever becomes of a repetition", async () => {
    const lost = new PlatformFault("ambiguous", "The answer was lost.");
    const away = new PlatformFault("not_sent", "It could not be reached.");
    const again: Reconciled<string> = { outcome: "send_again", isStillInDoubt: true };
    expect(await publishBy([lost, away, limited], again)).toMatchObject({
      status: "published",
      sent: 4,
      asked: 3,
    });
  });

  it.each([
    ["that shows the post", true, 1],
    ["that shows nothing", false, 0],
  ])(
    "stays in doubt where a step %s was sent before and nobody was asked since",
    async (_what, shows, inDoubt) => {
      const answers = [
        new PlatformFault("ambiguous", "The answer was lost."),
        new PlatformFault("rejected", "Not like this."),
      ];
      const platform = scriptedPlatform({
        publish: async (_post, io) => {
          await io.effect<string>({
            step: "publish",
            request: {},
            send: async () => {
              throw answers.shift() ?? new PlatformFault("rejected", "Not like this.");
            },
            reconcile: async () => ({ outcome: "send_again" }),
            ...(shows && { live: (id: string) => ({ platformPostId: id, platformUrl: null }) }),
          });
          return { state: "live", platformPostId: "1", platformUrl: null };
        },
      });
      const media = { forPost: () => ({}) as never, release: async () => {} };
      await using ctx = await createTestContext({ platformList: [platform], media });
      const post = await addPost(ctx, await addAccount(ctx));
      await runTick(ctx);
      await ctx.clock.advance(60_000);
      await runTick(ctx);
      const { status, in_doubt } = await readPost(ctx, post.id);
      expect({ status, inDoubt: in_doubt }).toEqual({ status: shows ? "publishing" : "failed", inDoubt });
    },
  );

  it("is not sent under a new key while the platform may know the old one", async () => {
    const lost = Array.from({ length: 200 }, () => new PlatformFault("ambiguous", "The answer was lost."));
    const again: Reconciled<string> = { outcome: "send_again", isStillInDoubt: true };
    const end = await publishBy(lost, again, async (ctx, id) => {
      await expect(retryPost(callOf(ctx), { id })).rejects.toMatchObject({ kind: "conflict" });
    });
    expect(end).toMatchObject({ status: "failed", error: expect.stringMatching(/^outcome unknown/) });
  });
});
