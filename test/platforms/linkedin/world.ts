import { FakeClock } from "../../support/clock.ts";
import linkedin from "../../../src/platforms/linkedin/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { PDF, PDF_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { createMemoryMedia, type MemoryMedia } from "../../support/memory-media.ts";
import { APP, PAGE_APP, createFakeLinkedIn } from "./fake.ts";

export const FILM_URL = "https://media.example/film.mp4";
/** Three parts. */
const FILM = { bytes: Buffer.alloc(9_000_001, "posthorn "), mimeType: "video/mp4" };

export async function createLinkedInWorld({
  platform = linkedin,
  settings = {},
}: { readonly platform?: AnyPlatform; readonly settings?: Readonly<Record<string, string>> } = {}) {
  const clock = new FakeClock();
  const fake = createFakeLinkedIn(clock);
  const ctx = await createTestContext({
    platformList: [platform],
    clock,
    outbound: fake.door,
    media: createMemoryMedia(
      new Map<string, MemoryMedia>([
        [PHOTO_URL, PHOTO],
        [FILM_URL, FILM],
        [PDF_URL, PDF],
      ]),
    ),
    feed: {} as never,
    settings: {
      timezone: "UTC",
      maxLatenessMs: 60 * 60_000,
      uploadFolders: [],
      platformSettings: {
        POSTHORN_LINKEDIN_CLIENT_ID: APP.id,
        POSTHORN_LINKEDIN_CLIENT_SECRET: APP.secret,
        POSTHORN_LINKEDIN_PAGE_CLIENT_ID: PAGE_APP.id,
        POSTHORN_LINKEDIN_PAGE_CLIENT_SECRET: PAGE_APP.secret,
        ...settings,
      },
    },
  });
  return {
    ctx,
    fake,
    connect: (granted?: readonly string[], way = "oauth") =>
      consentOn(callOf(ctx), { provider: "linkedin", way }, { agree: (url) => fake.agree(url, granted) }),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

export type LinkedInWorld = Awaited<ReturnType<typeof createLinkedInWorld>>;

/** Its first channel: the member. */
export async function connected(world: LinkedInWorld) {
  const { rows, error } = await world.connect();
  return onlyOne(rows, error);
}

/** A Page, connected by the app that is only for Pages. */
export async function connectedPage(world: LinkedInWorld) {
  world.fake.pages = [{ id: "11", name: "Horn Ltd" }];
  const { rows, error } = await world.connect(undefined, "pages");
  return onlyOne(rows.slice(-1), error);
}

function onlyOne<T>([account]: readonly T[], error: string | null): T {
  if (account === undefined) throw new Error(`Nothing was connected: ${error}`);
  return account;
}
