import matrix from "../../../src/platforms/matrix/index.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import type { AccountRow } from "../../../src/store/queries/accounts.ts";
import { FakeClock } from "../../support/clock.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { connectOn } from "../../support/contract/connect-on.ts";
import { finish } from "../../support/contract/ends.ts";
import { platformWorld } from "../../support/contract/platform-world.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
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
  const world = platformWorld(ctx, platform);
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
    ...world,
    publish: async (...post: Parameters<typeof world.add>): Promise<PostRow> =>
      finish(ctx, (await world.add(...post)).id),
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      const { wrong } = fake.state;
      if (wrong.length > 0) throw new Error(`The server was asked wrongly: ${wrong.join("; ")}`);
      if (/canary/.test(ctx.log.text())) throw new Error("A secret is in the log.");
    },
  };
}
