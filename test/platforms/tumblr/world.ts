import tumblr from "../../../src/platforms/tumblr/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { openConsentWorld } from "../../support/contract/consent-world.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { createFakeTumblr, SCOPES } from "./fake.ts";

export const SOUND_URL = "https://media.example/horn.mp3";
export const GIF_URL = "https://media.example/horn.gif";

const MEDIA = new Map([
  [PHOTO_URL, PHOTO],
  [CLIP_URL, CLIP],
  [SOUND_URL, { bytes: Buffer.from("ID3 a horn"), mimeType: "audio/mpeg" }],
  [GIF_URL, { bytes: Buffer.from("GIF89a"), mimeType: "image/gif", width: 2, height: 1 }],
]);

/** Tumblr and a publisher that posts there. */
export async function openWorld(platform: AnyPlatform = tumblr, platformSettings?: Record<string, string>) {
  const world = await openConsentWorld({
    platform,
    createFake: createFakeTumblr,
    scopes: SCOPES,
    media: createMemoryMedia(MEDIA),
    channel: "Posthorn Inc",
    ...(platformSettings === undefined ? {} : { platformSettings }),
  });
  return {
    ...world,
    /** One that is to go out then, and may be brought there from now on. */
    later: (minutes: number): Partial<PostRow> => ({
      scheduled_at: world.clock.now() + minutes * 60_000,
      due_at: world.clock.now(),
      lead_minutes: minutes,
    }),
  };
}
