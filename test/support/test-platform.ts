import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { IANAZone } from "luxon";
import { z } from "zod";
import { Capabilities, MEDIA_KINDS } from "../../src/domain/accounts/account.ts";
import { showCapabilities } from "../../src/domain/accounts/capabilities.ts";
import { commonMetadata } from "../../src/domain/posts/common-metadata.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import type { EffectSpec, Json, PublishIo } from "../../src/ports/platform-io.ts";
import { readInsights } from "../../src/services/posts/insights.ts";
import { createPlatformIo } from "../../src/services/platforms/platform-io.ts";
import { toPlatformPost } from "../../src/services/publishing/publish-io.ts";
import type { PostRow } from "../../src/store/engine/schema.ts";
import type { Tables } from "../../src/store/engine/schema.ts";
import type { TestContext } from "./context.ts";
import { addPost, drain, readPost } from "./publishing.ts";
import { queryOf } from "./handles.ts";

/** A platform with a connected account and somewhere to look at what it shows. */
export interface Stage extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly account: Tables["accounts"];
  /** How many posts everybody can see on the platform. */
  published(): Promise<number>;
}

export interface PlatformFixture {
  /** A fresh stage on which the given platform plays the one under test. */
  openStage(platform: AnyPlatform): Promise<Stage>;
  /** A post with everything that makes a step of its own: media, more media, a thread. */
  readonly post: {
    readonly caption: string;
    readonly media_url: string;
    readonly metadata: Readonly<Record<string, Json>>;
  };
}

/** What every platform must hold, whatever it is; run over each of them. */
export function testPlatform(platform: AnyPlatform, fixture: PlatformFixture): void {
  describe(`${platform.name}, as data`, () => testData(platform));
  describe(`${platform.name}, publishing`, () => testPublishing(platform, fixture));
}

function testData(platform: AnyPlatform): void {
  const { capabilities } = platform;
  const keys = Object.keys(platform.metadata.shape);

  it("has a file of its name, a title and a page it follows", () => {
    expect(readdirSync(new URL("../../src/platforms/", import.meta.url))).toContain(`${platform.name}.ts`);
    expect(platform.name).toMatch(/^[a-z][a-z0-9]*$/);
    expect(platform.title).toMatch(/^[A-Z]/);
    expect(platform.docs).toMatch(/^https:\/\//);
    for (const setting of platform.requiredSettings)
      expect(setting).toMatch(new RegExp(`^POSTHORN_${platform.name.toUpperCase()}_[A-Z_]+$`));
  });

  it("has well-formed capabilities", () => {
    expect(Capabilities.safeParse(showCapabilities(capabilities)).error).toBeUndefined();
    const kinds = capabilities.media.accepts.map(({ kind }) => kind);
    expect(MEDIA_KINDS).toEqual(expect.arrayContaining(kinds));
    // Several of one kind are told apart by their types.
    const types = capabilities.media.accepts.flatMap(({ kind, mimeTypes }) =>
      mimeTypes.map((type) => `${kind} ${type}`),
    );
    expect(new Set(types).size).toBe(types.length);
    expect(kinds).toEqual(expect.arrayContaining([...capabilities.fetchesMedia]));
    expect(capabilities.caption.unit === "weighted").toBe(platform.measure !== undefined);
    const quotas = capabilities.quotas.map(({ name }) => name);
    expect(new Set(quotas).size).toBe(quotas.length);
    for (const { from } of capabilities.quotas)
      expect(from === "rolling" || IANAZone.isValidZone(from)).toBe(true);
    for (const limit of capabilities.media.accepts) {
      expect(limit.mimeTypes.length).toBeGreaterThan(0);
      expect(limit.mimeTypes.filter((type) => !type.startsWith(`${limit.kind}/`))).toEqual([]);
      expect(limit.maxItems).toBeGreaterThan(0);
      expect(limit.maxItems).toBeLessThanOrEqual(capabilities.media.maxItems);
    }
    const { min, default: usual, max } = capabilities.leadMinutes;
    expect([min, usual, max]).toEqual([min, usual, max].toSorted((a, b) => a - b));
  });

  it("says that it can do exactly what it does", () => {
    expect(capabilities.editPublished.fields.length > 0).toBe(platform.edit !== undefined);
    expect(capabilities.thumbnail.replaceAfterPublish).toBe(platform.setThumbnail !== undefined);
    expect(capabilities.thumbnail.set).toBe(keys.includes("thumbnailUrl"));
    expect(capabilities.analytics.account.length > 0).toBe(platform.analytics !== undefined);
    if (capabilities.analytics.post.length > 0) expect(platform.insights).toBeDefined();
    expect(["caption", ...keys]).toEqual(expect.arrayContaining([...capabilities.editPublished.fields]));
  });

  it("takes metadata that is strict, optional as a whole, described, and fit for JSON Schema", () => {
    expect(platform.metadata.safeParse({}).success).toBe(true);
    expect(platform.metadata.safeParse({ noSuchField: 1 }).success).toBe(false);
    const schema = z.toJSONSchema(platform.metadata, {
      target: "draft-2020-12",
      io: "input",
      reused: "inline",
    });
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    const bare = Object.entries(schema.properties ?? {}).filter(
      ([, field]) => typeof field === "boolean" || field.description === undefined,
    );
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it("means by a common name what all mean by it", () => {
    const common = keys.filter((key) => Object.hasOwn(commonMetadata, key));
    const typeOf = (field: z.core.$ZodType): unknown =>
      z.toJSONSchema(field, { io: "input", reused: "inline" }).type;
    for (const key of common) {
      const field = platform.metadata.shape[key];
      if (field !== undefined)
        expect([key, typeOf(field)]).toEqual([
          key,
          typeOf(commonMetadata[key as keyof typeof commonMetadata]),
        ]);
    }
  });

  it("asks for secrets in words", () => {
    expect(new Set(platform.connect.map(({ name }) => name)).size).toBe(platform.connect.length);
    for (const way of platform.connect) {
      expect(way.label).toMatch(/^[A-Z]/);
      expect(way.instructions).toMatch(/^[A-Z].*\.$/s);
      if (way.kind !== "secrets") continue;
      expect(new Set(way.fields.map(({ name }) => name)).size).toBe(way.fields.length);
      for (const field of way.fields) {
        expect(field.label).not.toBe("");
        expect(field.help).toMatch(/\.$/);
      }
      expect(way.fields.some(({ isSecret }) => isSecret)).toBe(true);
    }
  });
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
  });
  return { platform: { ...platform, publish: (post, io) => platform.publish(post, wrap(io)) }, steps };
}

function testPublishing(platform: AnyPlatform, fixture: PlatformFixture): void {
  const content = { ...fixture.post, metadata: JSON.stringify(fixture.post.metadata) };

  it("shows nothing before its time, and the post once from then on", async () => {
    const { platform: watched, steps } = withCrash(platform, null);
    await using stage = await fixture.openStage(watched);
    const { ctx } = stage;
    const lead = platform.capabilities.leadMinutes.max;
    const scheduledAt = ctx.clock.now() + lead * 60_000;
    const post = await addPost(ctx, stage.account, {
      ...content,
      lead_minutes: lead,
      scheduled_at: scheduledAt,
      due_at: ctx.clock.now(),
    });
    await drain(ctx);
    if (lead > 0) {
      expect(await stage.published()).toBe(0);
      expect(["scheduled", "publishing", "uploaded"]).toContain((await readPost(ctx, post.id)).status);
    }
    await ctx.clock.advance(lead * 60_000);
    expect(await finish(ctx, post.id)).toMatchObject({ status: "published", error: null });
    expect(await stage.published()).toBe(1);
    expect(steps.length).toBeGreaterThan(0);
    expect((await unsettled(ctx)).length).toBe(0);
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
        });
        expect(again).toEqual(first);
        runs += 1;
        return again;
      },
    };
    await using stage = await fixture.openStage(twice);
    const post = await addPost(stage.ctx, stage.account, content);
    expect((await finish(stage.ctx, post.id)).status).toBe("published");
    expect(runs).toBeGreaterThan(0);
    expect(await stage.published()).toBe(1);
  });

  it("is on the platform once, whichever step the process dies in", async () => {
    const steps = await stepsOf(platform, fixture, content);
    for (const step of steps) {
      for (const moment of ["before it was sent", "after it was sent"] as const) {
        const { platform: dying } = withCrash(platform, { step, moment });
        await using stage = await fixture.openStage(dying);
        const post = await addPost(stage.ctx, stage.account, content);
        const end = await finish(stage.ctx, post.id);
        const place = `${step}, ${moment}`;
        expect([place, end.status, end.error, await stage.published()]).toEqual([
          place,
          "published",
          null,
          1,
        ]);
      }
    }
  });

  it.runIf(platform.insights !== undefined && platform.remove !== undefined)(
    "tells that a post is live, and that it is gone",
    async () => {
      await using stage = await fixture.openStage(platform);
      const { ctx, account } = stage;
      const post = await addPost(ctx, account, content);
      const row = await finish(ctx, post.id);
      expect(await readInsights(ctx, row)).toMatchObject({ available: true, state: "live" });
      const io = await createPlatformIo(ctx, account, AbortSignal.timeout(20_000));
      // What is gone already is no error.
      for (let time = 0; time < 2; time++) await platform.remove?.(toPlatformPost(platform, row), io);
      expect(await stage.published()).toBe(0);
      expect(await readInsights(ctx, row)).toMatchObject({ available: true, state: "removed" });
    },
  );
}

async function sentAgain(): Promise<never> {
  throw new Error("A step that is done was sent a second time.");
}

async function stepsOf(
  platform: AnyPlatform,
  fixture: PlatformFixture,
  content: Partial<PostRow>,
): Promise<readonly string[]> {
  const { platform: watched, steps } = withCrash(platform, null);
  await using stage = await fixture.openStage(watched);
  await finish(stage.ctx, (await addPost(stage.ctx, stage.account, content)).id);
  return steps;
}

/** Works on what is due, moving the clock to the next try, until the post has come to its end. */
async function finish(ctx: TestContext, id: string): Promise<PostRow> {
  for (let round = 0; round < 40; round += 1) {
    await drain(ctx);
    const post = await readPost(ctx, id);
    if (post.status === "published" || post.status === "failed") return post;
    await ctx.clock.advance(Math.max((post.next_at ?? 0) - ctx.clock.now(), 1_000));
  }
  throw new Error("The post did not come to an end.");
}

function unsettled(ctx: TestContext): Promise<object[]> {
  return queryOf(ctx.store).selectFrom("effects").selectAll().where("state", "!=", "done").execute();
}
