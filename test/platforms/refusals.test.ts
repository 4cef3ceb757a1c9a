import { expect, it } from "vitest";
import type { OutboundRequest } from "../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { findAccountRow } from "../../src/store/queries/accounts.ts";
import { callOf } from "../support/context.ts";
import { endOf } from "../support/contract/ends.ts";
import { describeStages } from "../support/contract/read-stage.ts";
import { contentOf, type PlatformFixture, type Refusals } from "../support/contract/stage.ts";
import { ownWords } from "../support/own-words.ts";
import { addPost } from "../support/publishing.ts";

const ENDS = {
  failed: { post: "failed", account: "connected" },
  waits: { post: "scheduled", account: "connected" },
  reconnect: { post: "scheduled", account: "reconnect_required" },
} as const;

interface Met extends Omit<Refusals, "told"> {
  readonly words: RegExp;
  readonly answer: Refusals["told"][number][1];
}

async function meet(platform: AnyPlatform, fixture: PlatformFixture, refusal: Met): Promise<void> {
  const { words, answer, at = /^/, end = "failed", post } = refusal;
  await using stage = await fixture.openStage(platform);
  const { ctx, account } = stage;
  let refused = 0;
  const request = async (one: OutboundRequest) => {
    const pass = () => ctx.outbound.request(one);
    if (one.method === "GET" || !at.test(one.url)) return pass();
    refused += 1;
    return answer(pass, one);
  };
  const readStatus = async () => (await findAccountRow(ctx.store, account.owner_id, account.id))?.status;
  const { id } = await addPost(ctx, account, contentOf({ ...fixture.post, ...post }));
  const isOver = async () => end === "waits" || (await readStatus()) === "reconnect_required";
  const row = await endOf(stage, id, { ...ctx, outbound: { ...ctx.outbound, request } }, isOver);
  const expected = ENDS[end];
  expect(row).toMatchObject({ status: expected.post, error: expect.stringMatching(words), in_doubt: 0 });
  expect(ownWords(row.error)).not.toContain("IGNORE");
  expect(await readStatus()).toBe(expected.account);
  expect(await stage.published()).toBe(0);
  // What is refused for good is not sent again.
  if (end === "failed") expect(refused).toBe(1);
  if (end !== "waits") return;
  expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
  expect(await stage.published()).toBe(1);
}

await describeStages(
  "by what it refuses,",
  (platform, fixture) => {
    const { refusals = [], unfit = [] } = fixture;
    const met = refusals.flatMap(({ told, ...how }) =>
      told.map(([words, answer]) => ({ ...how, words, answer })),
    );

    it.for(met)("tells in plain words: $words", (refusal) => meet(platform, fixture, refusal));

    it.each(unfit)("refuses when it is scheduled: %j", async (post, words) => {
      await using stage = await fixture.openStage(platform);
      const asked = { accountId: stage.account.id, caption: "A horn", ...post, dryRun: true };
      await expect(schedulePost(callOf(stage.ctx), asked as never)).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(words),
      });
    });
  },
  ({ refusals = [], unfit = [] }) => refusals.length + unfit.length > 0,
);
