import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { OutboundFailure, type Outbound, type OutboundResponse } from "../../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import { findAccountRow } from "../../../src/store/queries/accounts.ts";
import { addPost, readPost } from "../publishing.ts";
import { expectOnce, finish } from "./ends.ts";
import { contentOf, type PlatformFixture, type Stage, type StagePost, type Trouble } from "./stage.ts";

function answer(status: number, headers: Record<string, string> = {}, body = ""): OutboundResponse {
  return { status, headers, url: "", body: Readable.from([Buffer.from(body)]) };
}

async function readWhole(response: OutboundResponse): Promise<void> {
  for await (const _chunk of response.body);
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  "cannot be sent": async () => {
    throw new OutboundFailure("Nobody answers.", false);
  },
  "is acted on, and its answer is lost": async (pass) => {
    await readWhole(await pass());
    throw new OutboundFailure("The answer broke off.", true);
  },
  "is lost on its way": async () => {
    throw new OutboundFailure("It broke off.", true);
  },
  "meets a limit": async () => answer(429, { "retry-after": "3" }),
  "meets a broken server": async () => answer(503),
  "is acted on by a server that then breaks": async (pass) => {
    await readWhole(await pass());
    return answer(500);
  },
};

const ANSWER_LOST = "is acted on, and its answer is lost";
const DOUBTS = { [ANSWER_LOST]: TROUBLES[ANSWER_LOST] as Trouble };

/** The door, with trouble at one request (from 0) and none at the others. */
function troubled(door: Outbound, at: { index: number; trouble: Trouble }): Outbound & { count(): number } {
  let count = 0;
  return {
    ...door,
    count: () => count,
    request: (request) => {
      const pass = () => door.request(request);
      return count++ === at.index ? at.trouble(pass, request) : pass();
    },
  };
}

/** Whatever one request of a post meets, it goes out once. */
export function testAnswers(platform: AnyPlatform, fixture: PlatformFixture): void {
  const casesOf = (kind: string, post: StagePost, troubles: Readonly<Record<string, Trouble>>) =>
    Object.entries(troubles).map(([what, trouble]) => [kind, what, post, trouble] as const);
  const cases = [
    ...casesOf("a whole post", fixture.post, { ...TROUBLES, ...fixture.troubles }),
    // How a refusal is read is told by the request. Only a doubt is settled by what the post is.
    ...Object.entries<StagePost>(fixture.otherPosts ?? {}).flatMap(([kind, post]) =>
      casesOf(kind, post, DOUBTS),
    ),
  ];

  it.each(cases)("shows %s once when any one request of it %s", async (_kind, what, post, trouble) => {
    let requests = 1;
    for (let index = 0; index < requests; index += 1) {
      await using stage = await fixture.openStage(platform);
      const { ctx } = stage;
      const outbound = troubled(ctx.outbound, { index, trouble });
      const { id } = await addPost(ctx, stage.account, contentOf(post));
      await finish(ctx, id, { ...ctx, outbound });
      requests = Math.max(requests, index === 0 ? outbound.count() : requests);
      await expectOnce(stage, id, `request ${index}: ${what}`);
      expect((await readPost(ctx, id)).warnings).toBeNull();
    }
  });

  it.runIf(fixture.refusesToken !== null)(
    "does not fail or lose a post when its token is refused",
    async () => {
      let requests = 1;
      for (let index = 0; index < requests; index += 1) {
        await using stage = await fixture.openStage(platform);
        const { ctx, account } = stage;
        const refused: Trouble = fixture.refusesToken ?? (async () => answer(401));
        const outbound = troubled(ctx.outbound, { index, trouble: refused });
        const { id } = await addPost(ctx, account, contentOf(fixture.post));
        const worker = { ...ctx, outbound };
        await untilStill(stage, id, worker);
        requests = Math.max(requests, index === 0 ? outbound.count() : requests);
        const row = await findAccountRow(ctx.store, account.owner_id, account.id);
        const { status } = await readPost(ctx, id);
        if (row?.status === "reconnect_required")
          expect(["scheduled", "publishing", "published"]).toContain(status);
        else await expectOnce(stage, id, `request ${index}: its token is refused`);
        expect(await stage.published()).toBeLessThanOrEqual(1);
      }
    },
  );
}

/** Until it ended, or waits for its channel: past its time, it would fail for that. */
async function untilStill(
  { ctx, account }: Stage,
  id: string,
  worker: Parameters<typeof finish>[2],
): Promise<void> {
  const waits = async (): Promise<boolean> =>
    (await findAccountRow(ctx.store, account.owner_id, account.id))?.status === "reconnect_required";
  await finish(ctx, id, worker, waits);
}
