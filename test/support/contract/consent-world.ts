import type { MediaSource } from "../../../src/ports/media.ts";
import type { Outbound } from "../../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../clock.ts";
import { callOf, createTestContext } from "../context.ts";
import { addPost, drain, readPost } from "../publishing.ts";
import { consentOn } from "./consent-on.ts";
import { finish } from "./ends.ts";
import { createStageMedia } from "./stage-media.ts";

interface Fake {
  readonly door: Outbound;
  /** The scopes that each code was given for. */
  readonly state: { readonly codes: Map<string, readonly string[]> };
}

interface ConsentWorld<F extends Fake> {
  readonly platform: AnyPlatform;
  readonly createFake: (now: () => number) => F;
  /** What people allow where a test does not say. */
  readonly scopes: readonly string[];
  /** Of the app that is registered, unless others are given. */
  readonly platformSettings?: Readonly<Record<string, string>>;
  readonly media?: MediaSource;
  /** What a post has where a test does not say. */
  readonly post?: Partial<Pick<PostRow, "media_url">> & { readonly metadata?: JsonObject };
  /** The channel that tests post to, of those that a consent is good for; default: the first. */
  readonly channel?: string;
}

/** A platform that is connected by consent, and a publisher that posts there. */
export async function openConsentWorld<F extends Fake>(parts: ConsentWorld<F>) {
  const { platform, createFake, scopes: usual, media = createStageMedia(), post = {} } = parts;
  const app = `POSTHORN_${platform.name.toUpperCase()}_CLIENT`;
  const { platformSettings = { [`${app}_ID`]: "client-1", [`${app}_SECRET`]: "secret-1" } } = parts;
  const clock = new FakeClock();
  const fake = createFake(() => clock.now());
  const ctx = await createTestContext({
    platformList: [platform],
    outbound: fake.door,
    media,
    clock,
    settings: { timezone: "UTC", maxLatenessMs: 60 * 60_000, uploadFolders: [], platformSettings },
  });
  const call = callOf(ctx);
  const agree = (url: string, scopes: readonly string[]) => {
    fake.state.codes.set("code-1", scopes);
    return { code: "code-1", state: new URL(url).searchParams.get("state") ?? "" };
  };
  const consent = (scopes = usual) =>
    consentOn(call, { provider: platform.name }, { agree: (url) => agree(url, scopes) });
  return {
    ctx,
    call,
    fake,
    clock,
    consent,
    async connect(): Promise<AccountRow> {
      const { rows, error } = await consent();
      const row = rows.find(({ name }) => parts.channel === undefined || name === parts.channel);
      if (row === undefined) throw new Error(`Nothing was connected: ${error}`);
      return row;
    },
    readAccount: (id: string) => findAccountRow(ctx.store, call.caller.ownerId, id),
    post: (account: AccountRow, metadata: JsonObject = {}, more: Partial<PostRow> = {}) =>
      addPost(ctx, account, {
        caption: "A horn",
        media_url: post.media_url ?? "",
        metadata: JSON.stringify({ ...post.metadata, ...metadata }),
        ...more,
      }),
    async run({ id }: Pick<PostRow, "id">): Promise<PostRow> {
      await drain(ctx);
      return readPost(ctx, id);
    },
    end: ({ id }: Pick<PostRow, "id">) => finish(ctx, id),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}
