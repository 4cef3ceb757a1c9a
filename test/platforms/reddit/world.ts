import reddit from "../../../src/platforms/reddit/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { openConsentWorld } from "../../support/contract/consent-world.ts";
import { createFakeReddit, SCOPES } from "./fake.ts";

/** Reddit and a publisher that posts there. */
export function openWorld(platform: AnyPlatform = reddit, platformSettings?: Record<string, string>) {
  return openConsentWorld({
    platform,
    createFake: createFakeReddit,
    scopes: SCOPES,
    post: { metadata: { subreddit: "horns", title: "Horn" } },
    ...(platformSettings === undefined ? {} : { platformSettings }),
  });
}
