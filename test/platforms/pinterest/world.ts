import pinterest from "../../../src/platforms/pinterest/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { openConsentWorld } from "../../support/contract/consent-world.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createFakePinterest, SCOPES } from "./fake.ts";

/** Pinterest and a publisher that pins there. */
export function openWorld(platform: AnyPlatform = pinterest, platformSettings?: Record<string, string>) {
  return openConsentWorld({
    platform,
    createFake: createFakePinterest,
    scopes: SCOPES,
    post: { media_url: PHOTO_URL, metadata: { boardId: "111" } },
    ...(platformSettings === undefined ? {} : { platformSettings }),
  });
}
