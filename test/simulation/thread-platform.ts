import type { PlatformPost, PublishOutcome } from "../../src/ports/platform.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { reconcileByListing } from "../../src/platforms/shared/reconcile.ts";
import { CLASS_PLATFORMS } from "../faults/class-platforms.ts";
import { class_h } from "./renewed-platform.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

/** What was posted stands in its listing by then. */
export const LISTED_AFTER_MS = 5_000;

/** What follows each post of a thread, once that is live. */
export const commentOn = (text: string): string => `${text} comment`;

async function publishThread(post: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const base = `${io.setting("BASE_URL") ?? ""}/g/posts`;
  const headers = { "x-account": io.account.platformAccountId ?? "" };
  const caption = post.caption ?? "";
  const show = (step: string, text: string, isLive: boolean): Promise<string> =>
    io.effect<string>({
      step,
      request: { text },
      send: async () => {
        const answer = await io.request({ method: "POST", url: base, headers, json: { text } });
        return idOf(answer.json);
      },
      reconcile: (context) =>
        reconcileByListing<string>(context, {
          io,
          listedAfterMs: LISTED_AFTER_MS,
          find: async (since) => {
            const url = `${base}?since=${since}`;
            const { json } = await io.request({ method: "GET", url, headers, isIdempotent: true });
            const posts = json as { id: string; text: string }[];
            return posts.find((one) => one.text === text)?.id ?? null;
          },
        }),
      ...(isLive && { live: (id: string) => ({ platformPostId: id, platformUrl: null }) }),
    });
  const id = await show("create", caption, true);
  await io.followUp("The comment", async () => void (await show("comment", commentOn(caption), false)));
  // Where it is, which some platforms tell later.
  await io.request({ method: "GET", url: `${base}?since=0`, headers, isIdempotent: true });
  return { state: "live", platformPostId: id, platformUrl: null };
}

function idOf(json: unknown): string {
  if (typeof json === "object" && json !== null && "id" in json) return String(json["id"]);
  throw new PlatformFault("ambiguous", "The platform's answer could not be read.");
}

/** One of each class of reconciliation, and one whose posts have something that follows them. */
export const PLATFORMS = {
  ...CLASS_PLATFORMS,
  class_g: scriptedPlatform({
    name: "class_g",
    capabilities: { ...TEXT_CAPABILITIES, reconciles: "list" },
    publish: publishThread,
  }),
  class_h,
};
