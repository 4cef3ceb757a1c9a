import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainCall } from "../../../src/context.ts";
import { showPosts } from "../../../src/cli/shell/views.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { openCalendarLink } from "../../../src/reporting/feeds/calendar-link.ts";
import { writeNotice } from "../../../src/reporting/webhooks/notices.ts";
import type { EventDelivery } from "../../../src/reporting/webhooks/event-body.ts";
import { callerOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { startService, type Service } from "../../support/service.ts";

const NAME = "Fjord Bakery";

/** What follows the name wherever one of these channels is named: nothing less tells it from the others. */
const TOLD = /^(?:"? on (?:Feed|feed) \(@(?:one|two)\)"?|"? on (?:Mastodon|mastodon)\b"?)/;

let service: Service;
let accountIds: string[];

/** Three channels of one name on two platforms. */
beforeEach(async () => {
  service = await startService();
  accountIds = [];
  for (const change of [{ handle: "@one" }, { handle: "@two" }, { provider: "mastodon", handle: null }]) {
    const { account } = await service.call("connect_channel", { provider: "feed", name: NAME });
    accountIds.push(account.id);
    await queryOf(service.ctx.store)
      .updateTable("accounts")
      .set({ ...change, settings: JSON.stringify({ instanceUrl: "https://social.example" }) })
      .where("id", "=", account.id)
      .execute();
  }
});
afterEach(() => service[Symbol.asyncDispose]());

const inHours = (hours: number): string => new Date(service.clock.now() + hours * 3_600_000).toISOString();

/** Each place where a name stands alone. A record with its platform and handle beside it is none. */
function unclear(text: string): string[] {
  const plain = text.replaceAll(new RegExp(`"name":\\s?"${NAME}"`, "g"), "");
  return plain
    .split(NAME)
    .slice(1)
    .filter((rest) => !TOLD.test(rest))
    .map((rest) => NAME + rest.slice(0, 60));
}

function expectClear(text: string, atLeast = 1): void {
  expect(text.split(NAME).length, text).toBeGreaterThan(atLeast);
  expect(unclear(text)).toEqual([]);
}

const asked = async (tool: string, args: object): Promise<string> =>
  (await service.questionOf(tool, args)) ?? "";

async function asModel(tool: string, args: object): Promise<string> {
  const toolbox = createToolbox(service.ctx, service.tools);
  return JSON.stringify((await toolbox.call(tool, args, callerOf(), { hasShortRows: true })).result);
}

async function schedule(accountId: string): Promise<string> {
  const { post } = await service.call("schedule_post", {
    accountId,
    scheduledAt: inHours(2),
    caption: "Rye",
  });
  return post.id;
}

const scheduleAll = async (): Promise<string[]> => [
  await schedule(accountIds[0] ?? ""),
  await schedule(accountIds[1] ?? ""),
  await schedule(accountIds[2] ?? ""),
];

describe("channels of one name are told apart", () => {
  it("in questions to a person", async () => {
    const [id = ""] = await scheduleAll();
    const [accountId = ""] = accountIds;
    expectClear(await asked("schedule_post", { accountId, caption: "Now" }));
    expectClear(
      await asked("schedule_posts", { posts: accountIds.map((one) => ({ accountId: one, caption: "Now" })) }),
      3,
    );
    expectClear(await asked("cancel_post", { id }));
    expectClear(await asked("update_post", { id, scheduledAt: inHours(0) }));
    expectClear(await asked("change_posts", { accountId: accountIds, shiftMinutes: 60 }), 3);
    expectClear(await asked("change_posts", { accountId: accountIds, cancel: true }), 3);
    expectClear(await asked("disconnect_channel", { accountId }));
    const { draft } = await service.call("save_draft", {
      caption: "Rye",
      scheduledAt: inHours(3),
      targets: accountIds.map((one) => ({ accountId: one })),
    });
    expectClear(
      await asked("decide_draft", { id: draft.id, revision: draft.revision, decision: "approve" }),
      3,
    );
  });

  it("in answers to a model", async () => {
    await scheduleAll();
    await service.call("save_draft", {
      caption: "Rye",
      targets: accountIds.map((one) => ({ accountId: one })),
    });
    await service.call("update_account", {
      accountId: accountIds[0],
      schedule: { slots: [{ days: ["mon"], times: ["09:30"] }] },
      paused: true,
    });
    for (const [tool, args] of [
      ["list_posts", {}],
      ["list_drafts", {}],
      ["show_calendar", { from: inHours(-1), to: inHours(200) }],
      ["get_status", {}],
    ] as const)
      expectClear(await asModel(tool, args));
  });

  it("in refusals and warnings, by names that can be given back", async () => {
    const refused = await service.call("schedule_post", { accountId: NAME, caption: "x" }).catch(String);
    expectClear(refused.replace(`"${NAME}" may be`, ""), 3);
    const named = [...refused.matchAll(/"(Fjord Bakery on [^"]*)" \(/g)].map(([, name]) => name);
    const { results } = await service.call("schedule_posts", {
      posts: named.map((accountId) => ({ accountId, scheduledAt: inHours(2), caption: "x" })),
    });
    expect(results.map(({ post }: any) => post?.accountId)).toEqual(accountIds);
    const { result } = {
      result: await service.call("update_account", { accountId: accountIds[0], paused: true }),
    };
    expect(result.account.name).toBe(NAME);
    const { warnings } = await service.call("schedule_post", {
      accountId: accountIds[0],
      scheduledAt: inHours(4),
      caption: "Paused",
    });
    expectClear(warnings.join(" "));
    const none = { accountId: accountIds[1], slot: "next", caption: "x" };
    expectClear(await service.call("schedule_post", none).catch(String));
    const twice = { targets: [{ accountId: accountIds[1] }, { accountId: accountIds[1] }] };
    expectClear(await service.call("save_draft", twice).catch(String));
  });

  it("in the shell, the calendar of other programs and notices", async () => {
    const [id = ""] = await scheduleAll();
    const { posts } = await service.call("list_posts", {});
    expectClear(await showPosts(service.ctx, posts, { columns: 200 }), 3);
    const link = await openCalendarLink(plainCall(service.ctx, callerOf()), { isNew: false });
    const feed = await service.ask(`GET ${new URL(link.url).pathname}`, { key: null });
    expectClear(feed.text.replaceAll(/\r\n /g, "").replaceAll("\\n", "\n").replaceAll("\\", ""), 3);
    const row = await queryOf(service.ctx.store)
      .selectFrom("posts")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    const sent = {
      id: "msg_1",
      event: "post.failed",
      snapshot: JSON.stringify(row),
      webhook_id: "",
      happened_at: 0,
    };
    const notice = await writeNotice(service.ctx, { owner_id: "default" }, [
      sent as unknown as EventDelivery,
    ]);
    expectClear(`${notice.title} ${notice.text}`);
  });
});

it("a channel whose name is its alone has no more than its name", async () => {
  await queryOf(service.ctx.store)
    .updateTable("accounts")
    .set({ name: "Rye" })
    .where("id", "=", accountIds[0] ?? "")
    .execute();
  expect(await asked("schedule_post", { accountId: "rye on feed", caption: "Now" })).toBe(
    "Publish now on Rye: “Now”?",
  );
  await schedule("Rye on Feed (@one)");
  expect(JSON.parse(await asModel("list_posts", {})).posts[0].accountName).toBe("Rye");
});

describe("a name that is the handle of another channel", () => {
  const told =
    'The name of one channel is the handle of another one: two and Fjord Bakery (@two). So this one is called "two on Feed" here, and that one "Fjord Bakery on Feed (@two)". One can be given another name.';

  it("is told when a channel is connected or renamed, and each post says where it goes", async () => {
    const { account, instructions } = await service.call("connect_channel", {
      provider: "feed",
      name: "two",
    });
    expect(instructions).toBe(told);
    const renamed = await service.call("update_account", { accountId: account.id, name: "Two" });
    expect(renamed.warnings).toEqual([told.replace("one: two", "one: Two").replace('"two on', '"Two on')]);
    const post = { accountId: "two on feed", caption: "Rye", scheduledAt: inHours(3) };
    const { results } = await service.call("schedule_posts", { posts: [post] });
    expect(results[0]?.warnings).toContain(
      'It goes to Two on Feed. Another channel has the handle "Two", too.',
    );
    await expect(service.call("schedule_post", { ...post, accountId: "two" })).rejects.toThrow(
      '"two" may be any of',
    );
  });

  it("is told of several posts as of one that goes to a channel by its handle", async () => {
    const post = { accountId: "@two", caption: "Rye", scheduledAt: inHours(3) };
    const { results } = await service.call("schedule_posts", { posts: [post] });
    expect(results[0]?.warnings).toContain(
      "It goes to Fjord Bakery on Feed (@two). Another channel has that name, too.",
    );
  });
});
