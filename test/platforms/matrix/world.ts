import matrix from "../../../src/platforms/matrix.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import { createPlatformIo } from "../../../src/services/platforms/platform-io.ts";
import { toPlatformPost } from "../../../src/services/publishing/publish-io.ts";
import { readStepResults } from "../../../src/services/publishing/step-results.ts";
import type { PostRow } from "../../../src/store/engine/schema.ts";
import { findAccountRow, type AccountRow } from "../../../src/store/tables/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { finish } from "../../support/contract/ends.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { addPost } from "../../support/publishing.ts";
import { createFakeMatrix, PASSWORD, ROOM, SERVER, TOKEN } from "./fake.ts";
import { shownIn } from "./rooms.ts";

/** A server of Matrix behind the real publisher, with helpers for what tests do with it. */
export async function openMatrix(platform: AnyPlatform = matrix) {
  const clock = new FakeClock();
  const fake = createFakeMatrix(clock);
  const ctx = await createTestContext({
    clock,
    platformList: [platform],
    outbound: fake,
    media: createStageMedia(),
  });
  const call = callOf(ctx);
  return {
    ctx,
    call,
    clock,
    fake,
    state: fake.state,
    connect: (secrets: Record<string, string> = {}, more: object = {}): Promise<AccountRow> =>
      connectOn(call, {
        provider: "matrix",
        way: "token",
        instanceUrl: SERVER,
        secrets: { accessToken: TOKEN, room: "#news:horn.example", ...secrets },
        ...more,
      }),
    signIn: (secrets: Record<string, string> = {}, more: object = {}): Promise<AccountRow> =>
      connectOn(call, {
        provider: "matrix",
        way: "password",
        instanceUrl: SERVER,
        secrets: { user: "horn", password: PASSWORD, room: "#news:horn.example", ...secrets },
        ...more,
      }),
    /** What people see in the room. */
    shown: (room = ROOM) => shownIn(fake.state.rooms.get(room)!),
    publish: async (
      account: AccountRow,
      post: { caption?: string | null; mediaUrl?: string; metadata?: JsonObject },
    ): Promise<PostRow> => {
      const { id } = await addPost(ctx, account, {
        caption: post.caption === undefined ? "A horn" : post.caption,
        media_url: post.mediaUrl ?? "",
        metadata: JSON.stringify(post.metadata ?? {}),
      });
      return finish(ctx, id);
    },
    readAccount: async ({ owner_id: owner, id }: AccountRow) => (await findAccountRow(ctx.store, owner, id))!,
    ioOf: async (account: AccountRow, row?: PostRow) => ({
      ...(await createPlatformIo(ctx, account, AbortSignal.timeout(20_000))),
      ...(row === undefined ? {} : await readStepResults(ctx, row)),
    }),
    postOf: (row: PostRow) => toPlatformPost(platform, row),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      const { wrong } = fake.state;
      if (wrong.length > 0) throw new Error(`The server was asked wrongly: ${wrong.join("; ")}`);
      if (/canary/.test(ctx.log.text())) throw new Error("A secret is in the log.");
    },
  };
}
