import reddit from "../../../src/platforms/reddit.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { PostRow } from "../../../src/store/engine/schema.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/tables/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { consentOn } from "../../support/contract/consent-on.ts";
import { finish } from "../../support/contract/ends.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { createFakeReddit, SCOPES } from "./fake.ts";

const APP = { POSTHORN_REDDIT_CLIENT_ID: "client-1", POSTHORN_REDDIT_CLIENT_SECRET: "secret-1" };

/** Reddit and a publisher that posts there. */
export async function openWorld(
  platform: AnyPlatform = reddit,
  platformSettings: Record<string, string> = APP,
) {
  const clock = new FakeClock();
  const fake = createFakeReddit(() => clock.now());
  const ctx = await createTestContext({
    platformList: [platform],
    outbound: fake.door,
    media: createStageMedia(),
    clock,
    settings: { timezone: "UTC", maxLatenessMs: 60 * 60_000, uploadFolders: [], platformSettings },
  });
  const call = callOf(ctx);
  const consent = (scopes: readonly string[] = SCOPES) =>
    consentOn(
      call,
      { provider: "reddit" },
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
      const [row] = rows;
      if (row === undefined) throw new Error(`Nothing was connected: ${error}`);
      return row;
    },
    readAccount: (id: string) => findAccountRow(ctx.store, call.caller.ownerId, id),
    post: (account: AccountRow, metadata: JsonObject = {}, more: Partial<PostRow> = {}) =>
      addPost(ctx, account, {
        caption: "A horn",
        media_url: "",
        metadata: JSON.stringify({ subreddit: "horns", title: "Horn", ...metadata }),
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
