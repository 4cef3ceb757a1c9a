import { FakeClock } from "../../support/clock.ts";
import linkedin from "../../../src/platforms/linkedin.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { APP, createFakeLinkedIn } from "./fake.ts";

export const FILM_URL = "https://media.example/film.mp4";
/** Three parts. */
const FILM = { bytes: Buffer.alloc(9_000_001, "posthorn "), mimeType: "video/mp4" };

export const PAGE_SCOPES =
  "openid profile w_member_social w_organization_social r_organization_social rw_organization_admin";

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
      new Map([
        [PHOTO_URL, PHOTO],
        [FILM_URL, FILM],
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
        ...settings,
      },
    },
  });
  return {
    ctx,
    fake,
    connect: (granted?: readonly string[]) =>
      consentOn(callOf(ctx), { provider: "linkedin" }, { agree: (url) => fake.agree(url, granted) }),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}

export type LinkedInWorld = Awaited<ReturnType<typeof createLinkedInWorld>>;

/** Its first channel: the member. */
export async function connected(world: LinkedInWorld) {
  const { rows, error } = await world.connect();
  const [account] = rows;
  if (account === undefined) throw new Error(`Nothing was connected: ${error}`);
  return account;
}
