import { expect, it } from "vitest";
import { SECOND } from "../../../src/domain/time.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { Json } from "../../../src/ports/platform-io.ts";
import type { EffectSpec, PublishIo } from "../../../src/ports/publish-io.ts";
import { cancelPost, readInsights } from "../../../src/posts/posts.ts";
import { canRemove } from "../../../src/publishing/take-down.ts";
import { schedulePost } from "../../../src/posts/schedule-post.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import { callOf } from "../context.ts";
import { queryOf } from "../handles.ts";
import { addPost, drain, readPost } from "../publishing.ts";
import { endOf, expectOnce } from "./ends.ts";
import { contentOf, type PlatformFixture, type Stage, type StagePost } from "./stage.ts";

/** What platforms take for markup, and what they may count or cut wrongly. */
const TRICKY =
  "Grüße 👩‍👩‍👧 *stars* _lines_ <b>tags</b> &amp; [link](https://a.example) שלום 日本語 \\ | ~ {x} 1 < 2";

/** Bold, and signs that are none of Markdown's where they stand: only a plain text would need marks before them. */
const MARKED = "**a** `[c]` b_c_d_e_f_g_h 2 * 3 ";

function takesMarkdown({ metadata: { shape } }: AnyPlatform): boolean {
  return shape["format"]?.safeParse("markdown").success === true;
}

/** The process dies; nobody gets to write down what became of the step. */
class Crash extends Error {}

type Moment = "before it was sent" | "after it was sent";

/** The platform, whose process dies once at one moment of one step; notes the steps it takes. */
function withCrash(
  platform: AnyPlatform,
  at: { step: string; moment: Moment } | null,
): { platform: AnyPlatform; steps: string[] } {
  const steps: string[] = [];
  let isDue = at !== null;
  const wrap = (io: PublishIo): PublishIo => ({
    ...io,
    effect: <R extends Json>(spec: EffectSpec<R>) =>
      io.effect<R>({
        ...spec,
        send: async (context) => {
          if (!steps.includes(spec.step)) steps.push(spec.step);
          const isHere = isDue && spec.step === at?.step;
          if (isHere) isDue = false;
          if (isHere && at?.moment === "before it was sent") throw new Crash();
          const result = await spec.send(context);
          if (isHere) throw new Crash();
          return result;
        },
      }),
    get isDue() {
      return io.isDue;
    },
  });
  return { platform: { ...platform, publish: (post, io) => platform.publish(post, wrap(io)) }, steps };
}

function postsOf(fixture: PlatformFixture): [string, StagePost][] {
  return Object.entries<StagePost>({ "a whole post": fixture.post, ...fixture.otherPosts });
}

/** Each post goes out once, at its time. */
export function testPublishing(platform: AnyPlatform, fixture: PlatformFixture): void {
  const posts = postsOf(fixture);

  it.each(posts)("shows nothing of %s before its time, and it once from then on", async (_kind, post) => {
    const { platform: watched, steps } = withCrash(platform, null);
    await using stage = await fixture.openStage(watched);
    const { ctx } = stage;
    const lead = platform.capabilities.leadMinutes.max;
    const scheduledAt = ctx.clock.now() + lead * 60_000;
    const { id } = await addPost(ctx, stage.account, {
      ...contentOf(post),
      lead_minutes: lead,
      scheduled_at: scheduledAt,
      due_at: ctx.clock.now(),
    });
    while (ctx.clock.now() < scheduledAt) {
      await drain(ctx);
      expect(await stage.published()).toBe(0);
      const row = await readPost(ctx, id);
      expect(["scheduled", "publishing", "uploaded"]).toContain(row.status);
      expect(row.attempts).toBeGreaterThan(0);
      const next = Math.min(Math.max(row.next_at ?? scheduledAt, ctx.clock.now() + 1_000), scheduledAt);
      await ctx.clock.advance(next - ctx.clock.now());
    }
    expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null, warnings: null });
    expect(await stage.published()).toBe(1);
    expect(steps.length).toBeGreaterThan(0);
    expect((await unsettled(stage)).length).toBe(0);
  });

  it("can be run again from its top without sending anything a second time", async () => {
    let runs = 0;
    const { platform: watched } = withCrash(platform, null);
    const twice: AnyPlatform = {
      ...watched,
      publish: async (post, io) => {
        const first = await watched.publish(post, io);
        const again = await watched.publish(post, {
          ...io,
          effect: (spec) => io.effect({ ...spec, send: sentAgain }),
          get isDue() {
            return io.isDue;
          },
        });
        expect(again).toEqual(first);
        runs += 1;
        return again;
      },
    };
    await using stage = await fixture.openStage(twice);
    const { id } = await addPost(stage.ctx, stage.account, contentOf(fixture.post));
    expect((await endOf(stage, id)).status).toBe("published");
    expect(runs).toBeGreaterThan(0);
    expect(await stage.published()).toBe(1);
  });

  it("shows readers the text as it was written", async () => {
    await using stage = await fixture.openStage(platform);
    const refused = fixture.refusedText ?? "";
    const caption = [...TRICKY].filter((sign) => !refused.includes(sign)).join("");
    const { id } = await addPost(stage.ctx, stage.account, contentOf({ ...fixture.post, caption }));
    expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
    expect(await stage.captions()).toContainEqual(expect.stringContaining(caption));
    for (const sign of refused) {
      const { media_url: mediaUrl, metadata } = fixture.post;
      const post = {
        accountId: stage.account.id,
        caption: `a ${sign} b`,
        mediaUrl,
        metadata: { ...metadata },
      };
      await expect(schedulePost(callOf(stage.ctx), { ...post, dryRun: true })).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(/^caption: /),
      });
    }
  });

  it("takes a text of the greatest length and refuses one that is longer", async () => {
    const { maxLength } = platform.capabilities.caption;
    if (maxLength === null) return;
    await using stage = await fixture.openStage(platform);
    const dryRun = (length: number) =>
      schedulePost(callOf(stage.ctx), {
        accountId: stage.account.id,
        caption: "a".repeat(length),
        mediaUrl: fixture.post.media_url,
        metadata: { ...fixture.post.metadata },
        dryRun: true,
      });
    const limit = fixture.captionLimit ?? maxLength;
    expect((await dryRun(limit)).post.caption).toHaveLength(limit);
    await expect(dryRun(limit + 1)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^caption: /),
    });
  });

  it.runIf(takesMarkdown(platform))(
    "takes a Markdown text of the greatest length, and none that is refused there for its length",
    async () => {
      const { maxLength } = platform.capabilities.caption;
      if (maxLength === null) return;
      await using stage = await fixture.openStage(platform);
      const { media_url: mediaUrl, metadata: whole } = fixture.post;
      const metadata = { ...whole, format: "markdown" };
      const dryRun = (caption: string) =>
        schedulePost(callOf(stage.ctx), {
          accountId: stage.account.id,
          caption,
          mediaUrl,
          metadata,
          dryRun: true,
        });
      const refused = { kind: "invalid", message: expect.stringMatching(/^caption: /) };
      const limit = fixture.markdownLimit ?? fixture.captionLimit ?? maxLength;
      expect((await dryRun(MARKED.padEnd(limit, "a"))).post.caption).toHaveLength(limit);
      await expect(dryRun("**a** ".padEnd(limit + 6, "a"))).rejects.toMatchObject(refused);
      // Too long with its stars alone: as the platform counts.
      const caption = "**a** ".padEnd(limit + 4, "a");
      const verdict = await dryRun(caption).catch((error: unknown) => error);
      if (verdict instanceof Error) return expect(verdict).toMatchObject(refused);
      const { id } = await addPost(
        stage.ctx,
        stage.account,
        contentOf({ ...fixture.post, caption, metadata }),
      );
      expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
    },
  );

  it.runIf(platform.remove !== undefined).each(posts)(
    "takes %s down as a whole once it is live",
    async (_kind, post) => {
      await using stage = await fixture.openStage(platform);
      if (!canRemove(stage.ctx, stage.account)) return;
      const { id } = await addPost(stage.ctx, stage.account, contentOf(post));
      expect((await endOf(stage, id)).status).toBe("published");
      const { post: gone } = await awake(stage, cancelPost(callOf(stage.ctx), { id, fromPlatform: true }));
      expect(gone.status).toBe("cancelled");
      expect(gone.publishedAt).not.toBeNull();
      expect(await stage.published()).toBe(0);
      expect(await stage.captions()).toEqual([]);
      expect((await readPost(stage.ctx, id)).next_at).toBeNull();
    },
  );

  it.runIf(platform.insights !== undefined && platform.remove !== undefined)(
    "tells that a post is live, and that it is gone",
    async () => {
      await using stage = await fixture.openStage(platform);
      const { ctx, account } = stage;
      const post = await addPost(ctx, account, contentOf(fixture.post));
      const row = await endOf(stage, post.id);
      expect(await readInsights(ctx, row)).toMatchObject({ available: true, state: "live" });
      if (!canRemove(ctx, account)) return;
      const io = await createPlatformIo(ctx, account, AbortSignal.timeout(20_000));
      // What is gone already is no error.
      for (let time = 0; time < 2; time++) await platform.remove?.(toPlatformPost(platform, row), io);
      expect(await stage.published()).toBe(0);
      expect(await readInsights(ctx, row)).toMatchObject({ available: true, state: "removed" });
    },
  );
}

/** Each post goes out once, whichever step the process dies in. */
export function testDeaths(platform: AnyPlatform, fixture: PlatformFixture): void {
  it.each(postsOf(fixture))("shows %s once, whichever step the process dies in", async (_kind, post) => {
    for (const step of await stepsOf(platform, fixture, post)) {
      for (const moment of ["before it was sent", "after it was sent"] as const) {
        const { platform: dying } = withCrash(platform, { step, moment });
        await using stage = await fixture.openStage(dying);
        const { id } = await addPost(stage.ctx, stage.account, contentOf(post));
        await endOf(stage, id);
        await expectOnce(stage, id, `${step}, ${moment}`);
      }
    }
  });
}

/** Lets time pass for a platform that waits between its requests. */
async function awake<T>({ ctx }: Stage, work: Promise<T>): Promise<T> {
  let isDone = false;
  const end = work.finally(() => (isDone = true));
  end.catch(() => {});
  while (!isDone) {
    if (ctx.clock.sleepers > 0) await ctx.clock.advance(SECOND);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return end;
}

async function sentAgain(): Promise<never> {
  throw new Error("A step that is done was sent a second time.");
}

async function stepsOf(
  platform: AnyPlatform,
  fixture: PlatformFixture,
  post: StagePost,
): Promise<readonly string[]> {
  const { platform: watched, steps } = withCrash(platform, null);
  await using stage = await fixture.openStage(watched);
  await endOf(stage, (await addPost(stage.ctx, stage.account, contentOf(post))).id);
  return steps;
}

function unsettled({ ctx }: Stage): Promise<object[]> {
  return queryOf(ctx.store).selectFrom("effects").selectAll().where("state", "!=", "done").execute();
}
