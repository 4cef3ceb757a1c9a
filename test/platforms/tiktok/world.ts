import { Readable } from "node:stream";
import { AppError } from "../../../src/domain/errors.ts";
import type { MediaFacts, MediaItem, MediaSource } from "../../../src/ports/media.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import tiktok from "../../../src/platforms/tiktok/index.ts";
import type { AppContext } from "../../../src/context.ts";
import { FakeClock } from "../../support/clock.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { createFakeTikTok, type FakeTikTok } from "./fake.ts";
import { APP, DISPLAY_SCOPES } from "./tokens.ts";

export const FILM_URL = "https://media.example/film.mp4";
/** Three chunks, the last with what is left over. */
export const FILM = Buffer.alloc(32_000_001, "posthorn ");

const NO_FIGURES = {
  durationSeconds: null,
  pages: null,
  videoCodec: null,
  audioCodec: null,
  isAnimated: false,
};

/** A film and photos by address; what TikTok fetches it gets below our own domain. */
function createMedia(film: Partial<MediaFacts>): MediaSource {
  const films = { bytes: FILM, mimeType: "video/mp4", type: "video" as const, width: 1_080, height: 1_920 };
  const photos = { ...PHOTO, type: "image" as const };
  const itemOf = (url: string): MediaItem => {
    const { bytes, ...found } = url === FILM_URL ? films : photos;
    if (url !== FILM_URL && url !== PHOTO_URL) throw new AppError("invalid", `Nothing is at ${url}.`);
    const facts = { ...NO_FIGURES, ...found, sizeBytes: bytes.length, sha256: "0".repeat(64) };
    return {
      url,
      title: "film",
      altText: null,
      facts: url === FILM_URL ? { ...facts, ...film } : facts,
      open: ({ start = 0, end = bytes.length - 1 } = {}) => Readable.from([bytes.subarray(start, end + 1)]),
    };
  };
  return {
    release: async () => {},
    forPost: () => ({
      item: async (url) => itemOf(url),
      fitImage: async () => ({ ...PHOTO, isChanged: false }),
      publicUrl: async (_item, _minutes, options) =>
        options?.ours === true ? "https://posthorn.example/files/photo.jpg" : "https://elsewhere.example/1",
    }),
  };
}

export interface TikTokWorld extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly fake: FakeTikTok;
  connect(granted?: readonly string[]): ReturnType<typeof consentOn>;
}

export async function createTikTokWorld(
  options: {
    readonly platform?: AnyPlatform;
    readonly settings?: Readonly<Record<string, string>>;
    readonly film?: Partial<MediaFacts>;
    /** The app has it, and asks for its scopes. */
    readonly hasDisplayApi?: boolean;
    readonly overrides?: Partial<AppContext>;
  } = {},
): Promise<TikTokWorld> {
  const { platform = tiktok } = options;
  const clock = new FakeClock();
  const fake = createFakeTikTok(clock);
  const scopes = options.hasDisplayApi === true ? { POSTHORN_TIKTOK_SCOPES: DISPLAY_SCOPES.join(" ") } : {};
  if (options.hasDisplayApi === true) fake.tokens.appScopes = DISPLAY_SCOPES;
  const ctx = await createTestContext({
    platformList: [platform],
    clock,
    outbound: fake.door,
    media: createMedia(options.film ?? {}),
    publicUrl: async () => "https://posthorn.example",
    feed: {} as never,
    settings: {
      timezone: "UTC",
      maxLatenessMs: 60 * 60_000,
      uploadFolders: [],
      platformSettings: {
        POSTHORN_TIKTOK_CLIENT_ID: APP.key,
        POSTHORN_TIKTOK_CLIENT_SECRET: APP.secret,
        ...scopes,
        ...options.settings,
      },
    },
    ...options.overrides,
  });
  return {
    ctx,
    fake,
    connect: (granted) =>
      consentOn(callOf(ctx), { provider: "tiktok" }, { agree: (url) => fake.tokens.agree(url, granted) }),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

/** Its only channel. */
export async function connected(world: TikTokWorld, granted?: readonly string[]) {
  const { rows, error } = await world.connect(granted);
  const [account] = rows;
  if (account === undefined) throw new Error(`Nothing was connected: ${error}`);
  return account;
}
