import x from "../../../src/platforms/x/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { guestCall } from "../../../src/context.ts";
import { comeBack, leadOn } from "../../../src/channels/connecting/consent.ts";
import { connectChannel } from "../../../src/channels/connecting/connections.ts";
import type { Tables } from "../../../src/store/schema/tables.ts";
import { FakeClock } from "../../support/clock.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import {
  CLIP,
  CLIP_URL,
  PHOTO,
  PHOTO_URL,
  SUBTITLES,
  SUBTITLES_URL,
} from "../../support/contract/stage-media.ts";
import { callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { createMemoryMedia, type MemoryMedia } from "../../support/memory-media.ts";
import { FakeX, KEYS } from "./fake.ts";
import { APP } from "./fake-tokens.ts";

export interface World extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly fake: FakeX;
  readonly media: Map<string, MemoryMedia>;
  /** The person signs in and agrees. */
  consent(granted?: string): Promise<Awaited<ReturnType<typeof comeBack>>>;
  connect(): Promise<Tables["accounts"]>;
  connectWithKeys(keys?: Partial<typeof KEYS>): Promise<Tables["accounts"]>;
}

/** Posthorn beside X. What a client must never send fails the test when the world ends. */
export async function createWorld(
  platform: AnyPlatform = x,
  settings: Record<string, string> = {
    POSTHORN_X_CLIENT_ID: APP.clientId,
    POSTHORN_X_CLIENT_SECRET: APP.clientSecret,
    POSTHORN_X_PLAN: "enterprise",
  },
): Promise<World> {
  const clock = new FakeClock();
  const fake = new FakeX(() => clock.now());
  const media = new Map<string, MemoryMedia>([
    [PHOTO_URL, PHOTO],
    [CLIP_URL, CLIP],
    [SUBTITLES_URL, SUBTITLES],
  ]);
  const ctx = await createTestContext({
    platformList: [platform],
    clock,
    outbound: fake,
    media: createMemoryMedia(media),
    settings: {
      timezone: "UTC",
      maxLatenessMs: 60 * 60_000,
      uploadFolders: [],
      platformSettings: settings,
    },
  });
  const consent: World["consent"] = async (granted) => {
    const { url } = await connectChannel(callOf(ctx), { provider: platform.name });
    const token = url?.split("/").at(-1) ?? "";
    const lead = await leadOn(guestCall(ctx), { token });
    if (lead.state !== "lead") throw new Error(`Nobody is led on: ${JSON.stringify(lead)}`);
    return comeBack(guestCall(ctx), { answer: fake.tokens.consent(lead.url, granted), isBegunHere: true });
  };
  return {
    ctx,
    fake,
    media,
    consent,
    async connect() {
      await consent();
      return queryOf(ctx.store).selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
    },
    connectWithKeys: (keys = {}) =>
      connectOn(callOf(ctx), { provider: platform.name, way: "keys", secrets: { ...KEYS, ...keys } }),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      const wrong = [...fake.wrong, ...fake.tokens.wrong, ...fake.media.wrong];
      if (wrong.length > 0) throw new Error(`X was sent what nobody may send it:\n${wrong.join("\n")}`);
    },
  };
}
