import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";

/* What an agent passes on to a person is true as it stands: a time that is over, one that nobody gave, a wait. */

let service: Service;
let accountId: string;
/** A Saturday, 9:00. */
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const questionOf = (tool: string, args: object) => service.questionOf(tool, args);

describe("a draft whose time has passed", () => {
  it("is approved with the time that it was planned for, alone and among others", async () => {
    const scheduledAt = new Date(service.clock.now() + MINUTE).toISOString();
    const drafts: { id: string; revision: number }[] = [];
    for (const caption of ["One", "Two"]) {
      const args = { caption, scheduledAt, targets: [{ accountId }] };
      const { id, revision } = (await service.call("save_draft", args)).draft;
      drafts.push({ id, revision });
    }
    await service.clock.advance(2 * MINUTE);
    const passed = "now, as its time, Saturday 21 November 2026, 09:01 (UTC), has passed: “One”";
    expect(await questionOf("decide_draft", { ...drafts[0], decision: "approve" })).toContain(passed);
    expect(await questionOf("decide_draft", { drafts, decision: "approve" })).toContain(passed);
  });
});

it("shows no time of imported drafts that have none", async () => {
  const csv = "channel,text\nFeed,Some day";
  for (const dryRun of [true, false, true]) {
    const { rows } = await service.call("import_posts", { csv, as: "drafts", accountId, dryRun });
    expect(rows).toMatchObject([{ caption: "Some day", scheduledAt: null }]);
  }
});

it("names the first day of a series where nobody gave it", async () => {
  const repeat = { unit: "week", time: "09:00", until: "2026-11-25" };
  const save = (more: object) =>
    service.call("save_draft", {
      caption: "Weekly",
      targets: [{ accountId }],
      repeat: { ...repeat, ...more },
    });
  await expect(save({})).rejects.toThrow(
    "repeat.until: is before the first time, which is on 2026-11-28. Give a later day.",
  );
  await expect(save({ from: "2026-11-27" })).rejects.toThrow("repeat.until: is before repeat.from.");
});

it("says after a change that the post waits, and until when", async () => {
  const { post } = await service.call("schedule_post", { accountId, caption: "Due" });
  const wait = { next_allowed_at: service.clock.now() + 5 * MINUTE, wait_cause: "rate_limit" as const };
  await queryOf(service.ctx.store).updateTable("accounts").set(wait).where("id", "=", accountId).execute();
  const args = { id: post.id, caption: "Mended" };
  const done = await createToolbox(service.ctx, service.tools).call("update_post", args, callerOf(), {
    waitMs: 0,
  });
  expect(done.result).toMatchObject({
    post: { caption: "Mended", error: expect.stringMatching(/waits until Saturday 21 November 2026, 09:05/) },
    warnings: [expect.stringMatching(/^The post is not out yet\. Feed takes no more posts/)],
  });
});
