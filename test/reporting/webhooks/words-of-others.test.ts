import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readReceiver } from "../../../src/domain/webhooks/receivers.ts";
import { toMail, toRequest } from "../../../src/reporting/webhooks/message-formats.ts";
import { type Notice, writeNotice } from "../../../src/reporting/webhooks/notices.ts";
import { CHAT_TOKENS } from "../../support/chat-services.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { accountRow, addAccount, addPost } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

/* Whatever others wrote is words in a message to people: no link of its own, no markup, no mention, no header. */

/** Markup, links, mentions and headers of each service. Short, so that nothing of it is cut. */
const HOSTILE: readonly string[] = [
  "[Decide here](https://evil.example/app)",
  "xhttps://a/[Decide_here](https://evil.example)",
  "<https://evil.example|Decide>",
  "<!channel> <@U1> @everyone",
  "**b** __u__ ~~s~~ `c` ||s||",
  "# big\n> quoted\n- list",
  "=?UTF-8?B?RGVjaWRlIGhlcmU=?=",
  "a\r\nX-Evil: 1\r\n\r\nbody",
  '<b>x</b><img src="https://evil.example">',
];

let ctx: TestContext;

beforeAll(async () => {
  ctx = await createTestContext({
    platformList: [scriptedPlatform({ publish: async () => ({ state: "prepared" }) })],
  });
  await addAccount(ctx, { id: "acc_x", name: "Blog" });
  for (const [at, name] of HOSTILE.entries()) await addAccount(ctx, { id: `acc_${at}`, name });
});
afterAll(() => ctx[Symbol.asyncDispose]());

const DRAFT = {
  draftId: "dft_1",
  title: null,
  text: "We are live",
  accountIds: [],
  scheduledAt: null,
  writtenBy: null,
  decision: null,
  posts: [],
};
const LIST = { count: 0, posts: [] };
const DIGEST = {
  date: "2026-11-21",
  timezone: "UTC",
  today: LIST,
  failed: LIST,
  results: [],
  waitingDrafts: 0,
  unknownOutcome: 0,
  draftsWaiting: 0,
  accountsToReconnect: [],
};
const LISTED = {
  id: "post_1",
  accountId: "acc_x",
  provider: "scripted",
  scheduledAt: "2026-11-21T09:00:00.000Z",
};

type Event = readonly [event: string, snapshot: object];

async function post(over: object): Promise<object> {
  const row = await addPost(ctx, { ...accountRow(ctx), id: "acc_x" }, { id: `post_${Math.random()}` });
  return { ...row, status: "failed", ...over };
}

/** Every field of an event that somebody else wrote. */
const FIELDS: Readonly<Record<string, (evil: string, at: number) => Event | Promise<Event>>> = {
  "a post's caption": async (evil) => ["post.failed", await post({ caption: evil })],
  "a post's title": async (evil) => [
    "post.failed",
    await post({ caption: null, metadata: JSON.stringify({ title: evil }) }),
  ],
  "a platform's answer": async (evil) => ["post.failed", await post({ error: evil })],
  "a channel's name": (_evil, at) => ["draft.waiting", { ...DRAFT, accountIds: [`acc_${at}`] }],
  "why a channel is lost": (evil) => [
    "account.reconnect_required",
    { ...accountRow(ctx), status_reason: evil, queued: 1 },
  ],
  "a draft's title": (evil) => ["draft.waiting", { ...DRAFT, title: evil }],
  "a draft's text": (evil) => ["draft.waiting", { ...DRAFT, text: evil }],
  "a writer's name": (evil) => ["draft.waiting", { ...DRAFT, writtenBy: evil }],
  "the name of who decided": (evil) => [
    "draft.decided",
    { ...DRAFT, decision: { what: "approved", by: evil, note: null } },
  ],
  "a decision's note": (evil) => [
    "draft.decided",
    { ...DRAFT, decision: { what: "changes", by: "Ann", note: evil } },
  ],
  "a draft's post": (evil) => [
    "draft.partly",
    {
      ...DRAFT,
      posts: [{ id: "post_1", accountId: "acc_x", status: "failed", platformUrl: null, error: evil }],
    },
  ],
  "a day's text": (evil) => [
    "digest.daily",
    { ...DIGEST, today: { count: 1, posts: [{ ...LISTED, text: evil }] } },
  ],
  "a result's text": (evil) => [
    "digest.daily",
    { ...DIGEST, results: [{ ...LISTED, text: evil, metrics: {} }] },
  ],
  "a lost channel's name": (evil) => [
    "digest.daily",
    { ...DIGEST, accountsToReconnect: [{ id: "acc_x", name: evil, provider: "scripted" }] },
  ],
};

async function noticeOf(field: string, at: number): Promise<Notice> {
  const made = await FIELDS[field]?.(HOSTILE[at] ?? "", at);
  const [event, snapshot] = made ?? ["", {}];
  const delivery = {
    id: "evt_1",
    event,
    snapshot: JSON.stringify(snapshot),
    happened_at: 0,
    webhook_id: "whk_1",
  };
  // As the first of several, and as one of those that came meanwhile.
  return writeNotice(ctx, { owner_id: "default" }, [delivery, delivery] as never);
}

const ORIGIN = "https://chat.example";
const TARGETS = {
  ntfy: `${ORIGIN}/${CHAT_TOKENS.topic}`,
  slack: ORIGIN + CHAT_TOKENS.slack,
  discord: ORIGIN + CHAT_TOKENS.discord,
  telegram: `${ORIGIN}/bot${CHAT_TOKENS.telegram}/sendMessage?chat_id=-100987`,
} as const;

function requestOf(format: keyof typeof TARGETS, notice: Notice) {
  return toRequest(readReceiver(format, TARGETS[format]) as never, notice);
}

const CASES = Object.keys(FIELDS).flatMap((field) => HOSTILE.map((evil, at) => [field, evil, at] as const));

describe("what others wrote", () => {
  it.each(CASES)("is words alone everywhere: %s, %j", async (field, _evil, at) => {
    const notice = await noticeOf(field, at);
    expect(notice.title).not.toMatch(/[\r\n]/);

    const discord = JSON.parse(requestOf("discord", notice).body);
    const { link } = notice;
    const words = discord.content.replace(link ?? "", "").replaceAll(/\\[^a-z0-9\s]/gi, "");
    // Inside of an address that is one, signs are part of it.
    expect(words.replaceAll(/https?:\/\/[^\s<[\]]+/g, "")).not.toMatch(/[[\]<*_~`|]/);
    expect(discord.content).not.toMatch(/^\s*[#>-] /m);
    expect(discord.allowed_mentions).toEqual({ parse: [] });

    const slack = JSON.parse(requestOf("slack", notice).body);
    expect(slack.text).not.toMatch(/[<>]/);
    expect(slack.mrkdwn).toBe(false);

    const telegram = JSON.parse(requestOf("telegram", notice).body);
    expect(Object.keys(telegram)).not.toEqual(expect.arrayContaining(["parse_mode"]));
    expect(Object.keys(telegram)).not.toEqual(expect.arrayContaining(["entities"]));

    const ntfy = requestOf("ntfy", notice);
    expect(Object.keys(ntfy.headers).toSorted()).toEqual(
      ["authorization", "click", "content-type", "priority", "tags", "title"].filter(
        (name) => name in ntfy.headers,
      ),
    );
    for (const value of Object.values(ntfy.headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
    const [, encoded] = /^=\?UTF-8\?B\?([\w+/=]+)\?=$/.exec(ntfy.headers["title"] ?? "") ?? [];
    expect(encoded === undefined ? ntfy.headers["title"] : Buffer.from(encoded, "base64").toString()).toBe(
      notice.title,
    );

    const { subject } = toMail(notice);
    expect(subject).not.toMatch(/[\r\n]|=\?/);
  });
});
