import tumblr from "../../../src/platforms/tumblr.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { PostRow } from "../../../src/store/engine/schema.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/tables/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { finish } from "../../support/contract/ends.ts";
import { CLIP, CLIP_URL, PHOTO, PHOTO_URL } from "../../support/contract/stage-media.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { createFakeTumblr, SCOPES } from "./fake.ts";

export const SOUND_URL = "https://media.example/horn.mp3";
export const GIF_URL = "https://media.example/horn.gif";

const MEDIA = new Map([
  [PHOTO_URL, PHOTO],
  [CLIP_URL, CLIP],
  [SOUND_URL, { bytes: Buffer.from("ID3 a horn"), mimeType: "audio/mpeg" }],
  [GIF_URL, { bytes: Buffer.from("GIF89a"), mimeType: "image/gif", width: 2, height: 1 }],
]);

const APP = { POSTHORN_TUMBLR_CLIENT_ID: "client-1", POSTHORN_TUMBLR_CLIENT_SECRET: "secret-1" };

/** Tumblr and a publisher that posts there. */
export async function openWorld(
  platform: AnyPlatform = tumblr,
  platformSettings: Record<string, string> = APP,
) {
  const clock = new FakeClock();
  const fake = createFakeTumblr(() => clock.now());
  const ctx = await createTestContext({
    platformList: [platform],
    outbound: fake.door,
    media: createMemoryMedia(MEDIA),
    clock,
    settings: { timezone: "UTC", maxLatenessMs: 60 * 60_000, uploadFolders: [], platformSettings },
  });
  const call = callOf(ctx);
  const consent = (scopes: readonly string[] = SCOPES) =>
    consentOn(
      call,
      { provider: "tumblr" },
      {
        agree: (url) => {
          fake.state.codes.set("code-1", scopes);
          return { code: "code-1", state: new URL(url).searchParams.get("state") ?? "" };
        },
      },
    );
  return {
    ctx,
    call,
    fake,
    clock,
    consent,
    async connect(): Promise<AccountRow> {
      const { rows, error } = await consent();
      const row = rows.find(({ name }) => name === "Posthorn Inc");
      if (row === undefined) throw new Error(`Nothing was connected: ${error}`);
      return row;
    },
    readAccount: (id: string) => findAccountRow(ctx.store, call.caller.ownerId, id),
    post: (account: AccountRow, metadata: JsonObject = {}, more: Partial<PostRow> = {}) =>
      addPost(ctx, account, {
        caption: "A horn",
        media_url: "",
        metadata: JSON.stringify(metadata),
        ...more,
      }),
    /** One that is to go out then, and may be brought there from now on. */
    later: (minutes: number): Partial<PostRow> => ({
      scheduled_at: clock.now() + minutes * 60_000,
      due_at: clock.now(),
      lead_minutes: minutes,
    }),
    async run({ id }: Pick<PostRow, "id">): Promise<PostRow> {
      await drain(ctx);
      return readPost(ctx, id);
    },
    end: ({ id }: Pick<PostRow, "id">) => finish(ctx, id),
    [Symbol.asyncDispose]: () => ctx[Symbol.asyncDispose](),
  };
}
