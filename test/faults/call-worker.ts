import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import { decideDraft } from "../../src/posts/drafts/decide-draft.ts";
import { listDrafts } from "../../src/posts/drafts/drafts.ts";
import { saveDraft } from "../../src/posts/drafts/save-draft.ts";
import { makeSeriesPosts } from "../../src/posts/drafts/series.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { updateAccount } from "../../src/posts/update-account.ts";
import { cancelPost } from "../../src/posts/posts.ts";
import { retryPost } from "../../src/posts/update-post.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createCipher } from "../../src/store/engine/cipher.ts";
import type { SqliteDatabase } from "../../src/store/local/driver.ts";
import { openStore } from "../../src/store/open-store.ts";
import { callOf, createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

/**
 * A caller's request in a process that kills itself, by SIGKILL, at the n-th moment of it: before and after each
 * transaction is durable, and before and after each request to the platform. Without a number it lives, and
 * publishes first what waits.
 *
 * argv: data folder, address of the platform, what is called ("take down", "retry", or one of `DRAFTED`), the post, n.
 */
const [folder = "", address = "", what = "", id = "", killAt = "0"] = process.argv.slice(2);

let isCalling = false;
let passed = 0;
function pass(): void {
  if (!isCalling) return;
  passed += 1;
  if (passed === Number(killAt)) process.kill(process.pid, "SIGKILL");
}

function watchCommits(raw: SqliteDatabase): SqliteDatabase {
  const prepare: SqliteDatabase["prepare"] = (source) => {
    const statement = raw.prepare(source);
    if (source !== "commit") return statement;
    const run: typeof statement.run = (parameters) => {
      pass();
      const result = statement.run(parameters);
      pass();
      return result;
    };
    return { ...statement, reader: false, run };
  };
  return { ...raw, prepare };
}

async function ask(method: "POST" | "DELETE", part: string): Promise<void> {
  pass();
  await fetch(`${address}/${encodeURIComponent(part)}`, { method });
  pass();
}

/** What is done with a draft, and how it comes to be where it is not there yet. */
const DRAFTED: Readonly<Record<string, { readonly repeat: boolean; run(id: string): Promise<unknown> }>> = {
  approve: { repeat: false, run: (draft) => decide(draft, "approve") },
  "approve a series": { repeat: true, run: (draft) => decide(draft, "approve") },
  "make ahead": {
    repeat: true,
    run: () => makeSeriesPosts(ctx, new AbortController().signal),
  },
  stop: { repeat: true, run: (draft) => decide(draft, "stop") },
  "take a slot": {
    repeat: false,
    run: () => schedulePost(callOf(ctx), { accountId: id, caption: "In a slot", slot: "next" }),
  },
};

function decide(draft: string, decision: "approve" | "stop"): Promise<unknown> {
  return decideDraft(callOf(ctx), {
    id: draft,
    ...(decision === "approve" ? { revision: 1 } : {}),
    decision,
  });
}

/** The one draft that there is. Without its posts where they are to be made ahead. */
async function findOrMakeDraft(): Promise<string> {
  const [known] = (await listDrafts(callOf(ctx), { limit: 1 })).drafts;
  if (known !== undefined) return known.id;
  const slots = [
    { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const, times: ["09:00", "17:00"] },
  ];
  const schedule = { timezone: "UTC", slots: slots.map((one) => ({ ...one, days: [...one.days] })) };
  await updateAccount(callOf(ctx), { accountId: id, schedule });
  const { draft } = await saveDraft(callOf(ctx), {
    caption: "drafted",
    targets: [{ accountId: id }],
    ...(DRAFTED[what]?.repeat === true
      ? { repeat: { every: 1, unit: "day", time: HALF_A_DAY_ON, timezone: "UTC" } }
      : { scheduledAt: "2100-01-01T09:00:00Z" }),
  });
  if (what === "make ahead" || what === "stop") await decide(draft.id, "approve");
  // As after days without a process: the next two weeks are still to be made.
  if (what === "make ahead")
    rawOf(store).exec("DELETE FROM post_labels; DELETE FROM post_plans; DELETE FROM posts");
  return draft.id;
}

/** No occurrence comes while the test runs. */
const HALF_A_DAY_ON = new Date(Date.now() + 12 * 3_600_000).toISOString().slice(11, 16);

/** One part of the post, under its own text as its id. */
function send(io: PublishIo, step: string, text: string): Promise<string> {
  return io.effect<string>({
    step,
    request: text,
    send: async () => {
      await ask("POST", text);
      return text;
    },
    reconcile: async () => ({ outcome: "unknown", reason: "Nobody can tell." }),
    ...(step === "first" ? { live: (part) => ({ platformPostId: part, platformUrl: null }) } : {}),
  });
}

const platform = scriptedPlatform({
  publish: async (post, io) => {
    const first = await send(io, "first", post.caption ?? "");
    await io.followUp(
      "The second part",
      async () => void (await send(io, "second", `${first}, second part`)),
    );
    return { state: "live", platformPostId: first, platformUrl: null };
  },
  remove: async (_post, io) => {
    const { resultOf } = io as unknown as PublishIo;
    for (const step of ["second", "first"]) {
      const part = resultOf(step);
      if (typeof part === "string") await ask("DELETE", part);
    }
  },
});

const store = await openStore({
  file: join(folder, "posthorn.db"),
  locks: join(folder, "workers"),
  around: watchCommits,
});
const ctx = await createTestContext({
  store,
  clock: systemClock,
  cipher: createCipher(readFileSync(join(folder, "key"))),
  outbound: {
    assertAllowed: (_field, url) => new URL(url),
    request: () => Promise.reject(new Error("none")),
  },
  media: { forPost: () => ({}) as never, release: async () => {} },
  platformList: [platform],
  workerId: newId("wrk"),
});
const waiting = rawOf(store).prepare(
  "SELECT COUNT(*) AS n FROM posts WHERE next_at < ? OR lease_worker IS NOT NULL",
);
const untilIdle = async (): Promise<void> => {
  while ((waiting.get([Date.now() + 10_000]) as { n: number }).n > 0) await systemClock.sleep(10);
};

const isKilled = killAt !== "0";
// What is sent again is not to go out in the process that is killed: that has tests of its own.
const drafted = DRAFTED[what];
const draft = drafted === undefined ? "" : await findOrMakeDraft();
const publisher =
  drafted !== undefined || (isKilled && what === "retry")
    ? null
    : await startPublisher(ctx, {
        identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
      });
if (!isKilled && drafted === undefined) await untilIdle();
isCalling = isKilled;
try {
  if (drafted !== undefined) await drafted.run(draft);
  else
    await (what === "retry"
      ? retryPost(callOf(ctx), { id, caption: "corrected" })
      : cancelPost(callOf(ctx), { id, fromPlatform: true }));
} catch (error) {
  // The one before has done it.
  if (!(error instanceof AppError && error.kind === "conflict")) throw error;
}
isCalling = false;
if (publisher !== null) await untilIdle();
await publisher?.close();
process.exit(0);
