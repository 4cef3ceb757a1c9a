import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { PublishIo } from "../../../src/ports/publish-io.ts";
import { createPlatformIo } from "../../../src/channels/connecting/account-io.ts";
import { readStepResults, toPlatformPost } from "../../../src/publishing/publish-io.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/queries/accounts.ts";
import type { TestContext } from "../context.ts";
import { addPost, drain, readPost } from "../publishing.ts";

interface NewPost {
  readonly caption?: string | null;
  readonly mediaUrl?: string;
  readonly metadata?: JsonObject;
}

/** What tests of one platform do with its posts and accounts. */
export function platformWorld(ctx: TestContext, platform: AnyPlatform) {
  const add = (account: AccountRow, { caption = "A horn", mediaUrl = "", metadata = {} }: NewPost) =>
    addPost(ctx, account, { caption, media_url: mediaUrl, metadata: JSON.stringify(metadata) });
  return {
    add,
    /** Works on a post that is due, as far as it comes now. */
    publish: async (account: AccountRow, post: NewPost): Promise<PostRow> => {
      const { id } = await add(account, post);
      await drain(ctx);
      return readPost(ctx, id);
    },
    readAccount: async ({ owner_id: owner, id }: AccountRow) => (await findAccountRow(ctx.store, owner, id))!,
    ioOf: async (account: AccountRow, row?: PostRow) =>
      ({
        ...(await createPlatformIo(ctx, account, AbortSignal.timeout(20_000))),
        ...(row === undefined ? {} : await readStepResults(ctx, row)),
      }) as PublishIo,
    postOf: (row: PostRow) => toPlatformPost(platform, row),
  };
}
