import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import type { Outbound, OutboundResponse } from "../../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { canRemove } from "../../../src/publishing/take-down.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readJson } from "../../../src/channels/platform-io/platform-request.ts";
import { toPlatformPost } from "../../../src/publishing/publish-io.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { callOf, type TestContext } from "../context.ts";
import { addPost, readPost } from "../publishing.ts";
import { finish } from "./ends.ts";
import { contentOf, type PlatformFixture, type Stage, type StagePost } from "./stage.ts";

/** Names of keys from the top of an answer, divided by dots; those of lists are those of their entries. */
type Path = string;

/** Whether a key of a good answer is left in it. */
type Keep = (path: Path) => boolean;

async function readWhole({ body }: OutboundResponse): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function thin(value: unknown, keep: Keep, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((one) => thin(one, keep, path));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      const at = [...path, key];
      return keep(at.join(".")) ? [[key, thin(one, keep, at)]] : [];
    }),
  );
}

/** The door, whose good answers in JSON hold only the keys that are kept. */
function sparse(door: Outbound, keep: Keep): Outbound {
  return {
    ...door,
    request: async (request) => {
      const answer = await door.request(request);
      if (answer.status < 200 || answer.status >= 300) return answer;
      const bytes = await readWhole(answer);
      const json = readJson(bytes.toString("utf8"));
      const body = json === null ? bytes : Buffer.from(JSON.stringify(thin(json, keep)));
      return { ...answer, body: Readable.from(body.length === 0 ? [] : [body]) };
    },
  };
}

/** What is asked of a platform once the post is there. Each either works or throws. */
const CALLS: Readonly<Record<string, (stage: Stage, platform: AnyPlatform, row: PostRow) => Promise<void>>> =
  {
    insights: async ({ ctx }, _platform, row) => {
      const { available, state, reason } = await readInsights(ctx, row);
      if (!available || state !== "live") throw new Error(`${state}: ${reason}`);
    },
    inspect: async ({ ctx, account }, platform) => {
      const found = await platform.inspect?.(
        await createPlatformIo(ctx, account, AbortSignal.timeout(20_000)),
      );
      if (found !== undefined && found.problem !== null) throw new Error(found.problem);
    },
    analytics: async ({ ctx, account }, platform) => {
      const io = await createPlatformIo(ctx, account, AbortSignal.timeout(20_000));
      await platform.analytics?.({ from: "2026-11-01", to: "2026-11-20" }, io);
    },
    choices: async ({ ctx, account }, platform) => {
      const io = await createPlatformIo(ctx, account, AbortSignal.timeout(20_000));
      for (const list of Object.values(platform.choices ?? {})) await list("", io);
    },
    edit: async ({ ctx }, platform, { id }) => {
      if (platform.capabilities.editPublished.fields.includes("caption"))
        await editPublishedPost(callOf(ctx), { id, caption: "Another horn" });
    },
    remove: async ({ ctx, account }, platform, row) => {
      if (!canRemove(ctx, account)) return;
      const io = await createPlatformIo(ctx, account, AbortSignal.timeout(20_000));
      await platform.remove?.(toPlatformPost(platform, row), io);
    },
  };

/** A post from its beginning to its end, all answers thinned; what of it did not work. */
async function failuresOf(
  platform: AnyPlatform,
  fixture: PlatformFixture,
  { post, keep }: { post: StagePost; keep: Keep },
): Promise<string[]> {
  await using stage = await fixture.openStage(platform);
  const ctx: TestContext = { ...stage.ctx, outbound: sparse(stage.ctx.outbound, keep) };
  const { id } = await addPost(ctx, stage.account, contentOf(post));
  const { status, error, warnings } = await finish(stage.ctx, id, ctx);
  const shown = await stage.published();
  if (status !== "published" || shown !== 1 || warnings !== null)
    return [`publish: ${status} ${shown} ${error} ${warnings}`];
  const failures: string[] = [];
  // A platform may have remembered something of the channel.
  const account = await findAccountRow(ctx.store, stage.account.owner_id, stage.account.id);
  for (const [name, call] of Object.entries(CALLS))
    await call({ ...stage, ctx, account: account ?? stage.account }, platform, await readPost(ctx, id)).catch(
      (failure: unknown) => {
        failures.push(`${name}: ${String(failure)}`);
      },
    );
  return failures;
}

const nameOf = (failure: string): string => failure.split(":")[0] ?? "";

/** `entries.*.id` keeps what leads there too; `blob.**` all that is below. */
function keeping(needed: readonly Path[]): Keep {
  const patterns = needed.map((one) => one.split("."));
  return (path) => {
    const at = path.split(".");
    return patterns.some((pattern) =>
      at.every((key, index) => {
        const wanted = pattern[index] ?? (pattern.at(-1) === "**" ? "**" : "");
        return wanted === key || wanted === "*" || wanted === "**";
      }),
    );
  };
}

/** What fails is tried again for an hour of the clock's time, each time with all of its requests. */
const TIMEOUT_MS = 2 * MINUTE;

/** Nothing hangs on a key that an answer may lack: servers that only resemble a platform leave many out. */
export function testSparse(platform: AnyPlatform, fixture: PlatformFixture, needed: readonly Path[]): void {
  const posts = Object.entries<StagePost>({ "a whole post": fixture.post, ...fixture.otherPosts });

  it.each(posts)(
    "works for %s with answers that hold only what is needed",
    async (_kind, post) => {
      const whole = await failuresOf(platform, fixture, { post, keep: () => true });
      const failures = await failuresOf(platform, fixture, { post, keep: keeping(needed) });
      expect(failures.filter((one) => !whole.map(nameOf).includes(nameOf(one)))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it.each(posts)(
    "shows %s once at most, though answers hold nothing",
    async (_kind, post) => {
      await using stage = await fixture.openStage(platform);
      const ctx: TestContext = { ...stage.ctx, outbound: sparse(stage.ctx.outbound, () => false) };
      const { id } = await addPost(ctx, stage.account, contentOf(post));
      await finish(stage.ctx, id, ctx);
      expect(await stage.published()).toBeLessThanOrEqual(1);
    },
    TIMEOUT_MS,
  );
}

/** A key is called needed only where something does not work without it. */
export function testNeeded(platform: AnyPlatform, fixture: PlatformFixture, needed: readonly Path[]): void {
  const posts = Object.values<StagePost>({ "a whole post": fixture.post, ...fixture.otherPosts });

  it.each(needed)(
    "cannot do without %s",
    async (key) => {
      const keep = keeping(needed.filter((one) => one !== key));
      const tryOut = (post: StagePost) =>
        failuresOf(platform, fixture, { post, keep }).catch((error) => [error]);
      for (const post of posts) if ((await tryOut(post)).length > 0) return;
      expect.fail("Everything works without it: it may be missing.");
    },
    TIMEOUT_MS,
  );
}
