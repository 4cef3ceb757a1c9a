import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeDoubts } from "../../src/posts/post-in-words.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callerOf } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { fixture } from "../support/media.ts";
import { sentencesOf, SOURCES } from "../support/sentences.ts";
import { startService, type Service } from "../support/service.ts";

/*
 * What a person is asked, by every tool that asks: in words of people, and only about what can be done.
 */

const TOOLS = readdirSync(join(import.meta.dirname, "../../tools")).map((file) => file.replace(/\.ts$/, ""));
const NOT_FOR_PEOPLE = new RegExp(
  [
    `(?<![/.\\w])(?:${TOOLS.join("|")})\\b`,
    "metadata\\.",
    "(?<![/.\\w])(?:acc|post|dft|file|con|whk|key)_",
    "[{}]",
    "(?<![\\w/.@:-])[a-z]{2,}[A-Z][a-z]",
    "\\d{4}-\\d{2}-\\d{2}",
    "\\b(?:dryRun|ISO 8601)\\b",
  ].join("|"),
);

let service: Service;
let accountId: string;

beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});

afterEach(() => service[Symbol.asyncDispose]());

const at = (seconds: number): string => new Date(service.clock.now() + seconds * 1_000).toISOString();

interface Asked {
  readonly questions: readonly string[];
  /** Null: it was done. */
  readonly refusal: string | null;
  readonly result: any;
}

/** A call with a person who says no, or what is given, after what happens while the question is open. */
async function ask(
  tool: string,
  args: object,
  { consent = "no", meanwhile }: { consent?: "yes" | "no"; meanwhile?: () => Promise<unknown> } = {},
): Promise<Asked> {
  const questions: string[] = [];
  const person = async ({ text }: { text: string }): Promise<"yes" | "no"> => {
    questions.push(text);
    await meanwhile?.();
    return consent;
  };
  return createToolbox(service.ctx, service.tools)
    .call(tool, args, callerOf(), { ask: person, isByModel: true })
    .then(
      ({ result }) => ({ questions, refusal: null, result }),
      (error: unknown) => ({ questions, refusal: (error as Error).message, result: null }),
    );
}

async function schedule(args: object = {}): Promise<string> {
  const post = { accountId, scheduledAt: at(3_600), caption: "Hello", ...args };
  return (await service.call("schedule_post", post)).post.id;
}

async function setPost(id: string, set: object): Promise<string> {
  await queryOf(service.ctx.store).updateTable("posts").set(set).where("id", "=", id).execute();
  return id;
}

/** With a field that its channel does not have. */
async function draft(args: object = {}): Promise<{ id: string; revision: number }> {
  const content = { caption: "Opening", metadata: { boardId: "b" }, targets: [{ accountId }], submit: true };
  const saved = await service.call("save_draft", { ...content, scheduledAt: at(86_400), ...args });
  return { id: saved.draft.id, revision: saved.draft.revision };
}

const series = (repeat: object): Promise<{ id: string; revision: number }> =>
  draft({ scheduledAt: undefined, repeat: { time: "07:00", timezone: "Europe/Berlin", ...repeat } });

async function repeating(): Promise<{ id: string; revision: number }> {
  const one = await series({ unit: "day" });
  await service.call("decide_draft", { ...one, decision: "approve" });
  return { id: one.id, revision: one.revision + 1 };
}

async function live(args: object = {}): Promise<string> {
  const set = {
    status: "published",
    platform_post_id: "1",
    next_at: null,
    published_at: service.clock.now(),
  };
  return setPost(await schedule(args), set);
}

async function failed(set: object = {}): Promise<string> {
  return setPost(await schedule(), { status: "failed", next_at: null, error: "It was refused.", ...set });
}

async function picture(): Promise<string> {
  const upload = { headers: { "content-type": "image/png" }, body: fixture("photo.png") };
  return (await service.ask("POST /api/v1/files?name=photo.png", upload)).json.file.id;
}

const TABLE = "accountId,scheduledAt,caption\n";
const SLOTS = [{ days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], times: ["09:00", "09:01"] }];

/** Calls of each tool that asks, each of which is asked about. */
const ASKED: Readonly<Record<string, readonly (() => Promise<object>)[]>> = {
  schedule_post: [
    async () => ({ accountId, caption: "Hello" }),
    async () => {
      await live({ caption: "Twice" });
      await service.call("schedule_post", { accountId, caption: "Twice" });
      return { accountId, caption: "Twice", metadata: { link: "https://nowhere.example/" } };
    },
    async () => ({ accountId, caption: "A film", mediaUrl: "https://nowhere.example/a.mp4" }),
  ],
  schedule_posts: [
    async () => ({ posts: [{ accountId, caption: "Same" }] }),
    async () => {
      await live({ caption: "Same" });
      const post = { accountId, caption: "Same" };
      return { posts: [post, post] };
    },
  ],
  update_post: [async () => ({ id: await schedule(), scheduledAt: at(0), metadata: { title: "Title" } })],
  cancel_post: [
    async () => ({ id: await schedule() }),
    async () => ({ id: await live(), fromPlatform: true }),
  ],
  change_posts: [
    async () => ({ ids: [await schedule(), await schedule({ caption: "More" })], shiftMinutes: 60 }),
    async () => {
      await schedule();
      await draft({ title: "Waits", scheduledAt: at(3_700) });
      return { from: at(0), to: at(7_200), cancel: true };
    },
  ],
  retry_post: [
    async () => ({ id: await failed() }),
    async () => ({ id: await failed({ in_doubt: 1 }) }),
    async () => ({ id: await failed(), caption: "Better" }),
  ],
  resolve_post: [
    async () => ({ id: await failed(), outcome: "dismissed" }),
    async () => ({ id: await failed({ in_doubt: 1 }), outcome: "published" }),
    async () => ({ id: await failed({ in_doubt: 1 }), outcome: "not_published" }),
  ],
  edit_published_post: [
    async () => ({
      id: await live(),
      caption: "New",
      metadata: { altText: "A lake" },
    }),
  ],
  decide_draft: [
    async () => ({ ...(await draft()), decision: "approve" }),
    async () => {
      await service.call("schedule_post", { accountId, caption: "Opening", scheduledAt: at(86_400) });
      return { ...(await draft()), decision: "approve" };
    },
    async () => ({ ...(await series({ unit: "week", from: "2026-11-27" })), decision: "approve" }),
    async () => ({
      ...(await series({ unit: "month", until: "2027-06-01", texts: ["One", "Two"] })),
      decision: "approve",
    }),
    async () => ({
      drafts: [await draft(), { id: "dft_none", revision: 1 }, { ...(await draft()), revision: 9 }],
      decision: "approve",
    }),
    async () => ({ id: (await repeating()).id, decision: "stop" }),
    async () => ({ id: (await draft()).id, decision: "discard" }),
    async () => ({ drafts: [await draft(), await draft({ title: "Other" })], decision: "discard" }),
  ],
  import_posts: [
    async () => {
      await live({ caption: "Row" });
      return { csv: `${TABLE}${accountId},${at(3_600)},Row\n${accountId},${at(3_601)},Other`, dryRun: false };
    },
  ],
  update_account: [
    async () => {
      await service.call("update_account", { accountId, paused: true });
      await schedule({ scheduledAt: at(0) });
      return { accountId, paused: false };
    },
    async () => {
      await service.call("update_account", { accountId, schedule: { slots: SLOTS } });
      await service.clock.advance(16_000);
      const [first] = [await slotted("First"), await slotted("Second")];
      await service.call("cancel_post", { id: first });
      return { accountId, move: true };
    },
  ],
  connect_channel: [
    async () => {
      await service.call("disconnect_channel", { accountId });
      await setPost(await scheduleElsewhere(), { account_id: accountId });
      return { accountId };
    },
  ],
  disconnect_channel: [
    async () => {
      await schedule();
      await draft();
      return { accountId };
    },
  ],
  delete_file: [async () => ({ id: await picture() })],
};

async function slotted(caption: string): Promise<string> {
  return (await service.call("schedule_post", { accountId, caption, slot: "next" })).post.id;
}

/** A post that is due, of another channel. */
async function scheduleElsewhere(): Promise<string> {
  const other = await service.addFeed();
  return schedule({ accountId: other, scheduledAt: at(0) });
}

describe("every tool that asks a person", () => {
  it("is among these, and has calls that are refused unasked", () => {
    const asking = service.tools.filter(({ question }) => question !== undefined).map(({ name }) => name);
    expect(Object.keys(ASKED).toSorted()).toEqual(asking.toSorted());
    expect(Object.keys(REFUSED).toSorted()).toEqual(asking.toSorted());
  });

  it.each(Object.entries(ASKED).flatMap(([tool, calls]) => calls.map((call, at) => ({ tool, call, at }))))(
    "asks in words of people: $tool $at",
    async ({ tool, call }) => {
      const { questions, refusal } = await ask(tool, await call());
      expect(refusal).toMatch(/^The person declined/);
      expect(questions).toEqual([expect.not.stringMatching(NOT_FOR_PEOPLE)]);
    },
  );

  it.each(Object.entries(ASKED).flatMap(([tool, calls]) => calls.map((call, at) => ({ tool, call, at }))))(
    "takes a yes that came after some minutes: $tool $at",
    async ({ tool, call }) => {
      const meanwhile = (): Promise<void> => service.clock.advance(150_000);
      const { questions, refusal } = await ask(tool, await call(), { consent: "yes", meanwhile });
      expect(questions).toHaveLength(1);
      expect(refusal ?? "").not.toMatch(/changed while/);
    },
  );

  it.each(["week", "month", "year"] as const)(
    "tells on which day of a %s a series goes out",
    async (unit) => {
      const { questions } = await ask("decide_draft", {
        ...(await series({ unit, from: "2026-11-27" })),
        decision: "approve",
      });
      const day = { week: "on Fri", month: "on day 27", year: "on 27 Nov" }[unit];
      expect(questions[0]).toContain(
        `Every ${unit} ${day} at 07:00 (Europe/Berlin), from Fri 27 Nov 2026, without an end.`,
      );
    },
  );

  it("counts what a decision about several would do, and not what is done already", async () => {
    const drafts = [
      await draft({ title: "Done" }),
      await draft({ title: "New" }),
      await draft({ title: "Done, too" }),
    ];
    await service.call("decide_draft", { ...drafts[0], decision: "approve" });
    await service.call("decide_draft", { ...drafts[2], decision: "approve" });
    const { questions } = await ask("decide_draft", { drafts, decision: "approve" });
    expect(questions[0]).toMatch(
      /^Approve 1 draft\?\n1\. [^\n]*“Opening”[^\n]*\n2\. The draft "Done": approved already\.\n3\. The draft "Done, too": approved already\.$/,
    );
  });

  it("names the drafts that are left as they are", async () => {
    const [cancel, disconnect] = [await ASKED["change_posts"]![1]!(), { accountId }];
    expect((await ask("change_posts", cancel)).questions[0]).toMatch(
      /\. Not cancelled: the draft "Waits", which waits for approval\.$/,
    );
    expect((await ask("disconnect_channel", disconnect)).questions[0]).toMatch(
      / 1 draft is meant for it and cannot be approved before it is connected again: the draft "Waits"\.$/,
    );
  });
});

const LONG = "A long text. ".repeat(200);

/** What others do while a question is open, so that a yes would do something else than was asked about. */
const CHANGED: Readonly<
  Record<string, () => Promise<{ tool: string; args: object; meanwhile: () => Promise<unknown> }>>
> = {
  "one post more that fits the filter": async () => {
    await schedule();
    const args = { from: at(0), to: at(7_200), cancel: true };
    return { tool: "change_posts", args, meanwhile: () => schedule({ caption: "Squeezed in" }) };
  },
  "another one among many that are not named": async () => {
    const ids: string[] = [];
    for (let post = 0; post < 12; post++)
      ids.push(await schedule({ caption: `Post ${post}`, scheduledAt: at(3_600 + post) }));
    const args = { from: at(0), to: at(7_200), shiftMinutes: 60 };
    const meanwhile = async (): Promise<void> => {
      await service.call("cancel_post", { id: ids.at(-1) });
      await schedule({ caption: "Another", scheduledAt: at(3_700) });
    };
    return { tool: "change_posts", args, meanwhile };
  },
  "another text at the end of a long one": async () => {
    const id = await schedule({ caption: `${LONG}One` });
    const meanwhile = (): Promise<unknown> => service.call("update_post", { id, caption: `${LONG}Two` });
    return { tool: "change_posts", args: { ids: [id], shiftMinutes: 60 }, meanwhile };
  },
  "another time": async () => {
    const id = await schedule();
    const meanwhile = (): Promise<unknown> => service.call("update_post", { id, scheduledAt: at(9_000) });
    return { tool: "cancel_post", args: { id }, meanwhile };
  },
  "another text of what is sent again": async () => {
    const id = await failed();
    return { tool: "retry_post", args: { id }, meanwhile: () => setPost(id, { caption: "Other" }) };
  },
  "another text of a draft that is dismissed": async () => {
    const { id, revision } = await draft();
    const meanwhile = (): Promise<unknown> => service.call("save_draft", { id, revision, note: "Keep it" });
    return { tool: "decide_draft", args: { id, decision: "discard" }, meanwhile };
  },
};

describe.each(["the call waits for", "comes with a call of its own"])("a yes that %s", (way) => {
  /** As a client does whose answers come with calls of their own. */
  async function askInRounds(tool: string, args: object, meanwhile: () => Promise<unknown>): Promise<Asked> {
    const toolbox = createToolbox(service.ctx, service.tools);
    let confirmToken = "";
    const questions: string[] = [];
    const person = async ({ text, token }: { text: string; token: string }): Promise<"closed"> => {
      questions.push(text);
      confirmToken = token;
      return "closed";
    };
    await toolbox.call(tool, args, callerOf(), { ask: person, isByModel: true }).catch(() => {});
    await meanwhile();
    return toolbox.call(tool, args, callerOf(), { confirmToken, isByModel: true }).then(
      ({ result }) => ({ questions, refusal: null, result }),
      (error: unknown) => ({ questions, refusal: (error as Error).message, result: null }),
    );
  }

  const agree = (tool: string, args: object, meanwhile: () => Promise<unknown>): Promise<Asked> =>
    way === "the call waits for"
      ? ask(tool, args, { consent: "yes", meanwhile })
      : askInRounds(tool, args, meanwhile);

  it.each(Object.entries(CHANGED))("does nothing else than was asked about: %s", async (_what, make) => {
    const { tool, args, meanwhile } = await make();
    const posts = async (): Promise<unknown> => (await service.call("list_posts", { limit: 50 })).posts;
    let changed: unknown;
    const change = async (): Promise<void> => {
      await meanwhile();
      changed = await posts();
    };
    const { questions, refusal } = await agree(tool, args, change);
    expect(questions).toHaveLength(1);
    expect(refusal).toMatch(/^What would be done changed while the question was open, so nothing was done\./);
    expect(await posts()).toEqual(changed);
    const again = await agree(tool, args, async () => {});
    expect([again.questions.length, again.refusal]).toEqual([1, null]);
  });
});

/** Calls that cannot be done, whatever a person says. */
const REFUSED: Readonly<Record<string, readonly (() => Promise<object>)[]>> = {
  schedule_post: [
    async () => ({ accountId }),
    async () => ({ accountId: "acc_none", caption: "x" }),
    async () => ({ accountId, caption: "x", scheduledAt: "2020-01-01T09:00" }),
    async () => {
      await service.call("disconnect_channel", { accountId });
      return { accountId, caption: "x" };
    },
  ],
  schedule_posts: [async () => ({ posts: [{ accountId }, { accountId, caption: "x" }], atomic: true })],
  update_post: [
    async () => ({ id: "post_none", scheduledAt: at(0) }),
    async () => ({ id: await live(), scheduledAt: at(0) }),
    async () => ({ id: await schedule(), scheduledAt: at(-3_600) }),
  ],
  cancel_post: [async () => ({ id: await live() }), async () => ({ id: "post_none" })],
  change_posts: [
    async () => ({ ids: [await schedule(), await live()], cancel: true }),
    async () => ({ ids: [await schedule()], shiftMinutes: -600 }),
  ],
  retry_post: [
    async () => ({ id: await live() }),
    async () => ({ id: await failed(), caption: "" }),
    async () => {
      const id = await failed();
      await service.call("disconnect_channel", { accountId });
      return { id };
    },
  ],
  resolve_post: [async () => ({ id: await live(), outcome: "published" })],
  edit_published_post: [async () => ({ id: await schedule(), caption: "x" })],
  decide_draft: [
    async () => ({ id: "dft_none", revision: 1, decision: "approve" }),
    async () => ({ ...(await draft()), revision: 9, decision: "approve" }),
    async () => {
      const one = await draft();
      await service.call("decide_draft", { ...one, decision: "discard" });
      return { id: one.id, revision: one.revision + 1, decision: "approve" };
    },
    async () => {
      const one = await draft({ scheduledAt: at(60) });
      await service.clock.advance(3_600_000);
      return { ...one, decision: "approve" };
    },
    async () => ({ ...(await draft()), decision: "approve", scheduledAt: at(-3_600) }),
    async () => {
      const one = await draft();
      await service.call("disconnect_channel", { accountId });
      return { ...one, decision: "approve" };
    },
    async () => ({ ...(await draft()), decision: "stop" }),
    async () => ({ id: (await repeating()).id, revision: 9, decision: "stop" }),
    async () => ({
      drafts: [
        { ...(await draft()), revision: 9 },
        { id: "dft_none", revision: 1 },
      ],
      decision: "approve",
    }),
  ],
  import_posts: [async () => ({ csv: "caption\nHello", dryRun: false })],
  update_account: [
    async () => ({ accountId: "acc_none", paused: false }),
    async () => ({ accountId, paused: false, schedule: { slots: [], paused: true } }),
  ],
  connect_channel: [async () => ({ accountId: "acc_none" })],
  disconnect_channel: [async () => ({ accountId: "acc_none" })],
  delete_file: [
    async () => {
      const id = await picture();
      await schedule({ mediaUrl: id });
      return { id };
    },
  ],
};

it.each(Object.entries(REFUSED).flatMap(([tool, calls]) => calls.map((call, at) => ({ tool, call, at }))))(
  "asks nobody about what cannot be done: $tool $at",
  async ({ tool, call }) => {
    const { questions, refusal, result } = await ask(tool, await call());
    expect(questions).toEqual([]);
    // A batch and a table tell it in their answers.
    expect(refusal ?? result.results.map(({ post }: any) => post)).toEqual(
      refusal === null ? [null, null] : expect.not.stringMatching(/^The person/),
    );
  },
);

it("asks nobody about drafts that are only saved, by a table or one by one", async () => {
  const csv = `${TABLE}${accountId},${at(3_600)},Row`;
  const imported = await ask("import_posts", { csv, as: "drafts", dryRun: false });
  const saved = await ask("save_draft", { caption: "x", targets: [{ accountId }], submit: true });
  expect([imported, saved].map(({ questions, refusal }) => [questions, refusal])).toEqual([
    [[], null],
    [[], null],
  ]);
});

describe("what speaks against a post", () => {
  const all = [...new Set(SOURCES.flatMap((name) => sentencesOf(`src/${name}`)))];

  it("is told in words of people, whatever the source may say of it", () => {
    expect(all.filter((said) => NOT_FOR_PEOPLE.test(said)).length).toBeGreaterThan(150);
    const told = all.map((said) => ({ said, shown: describeDoubts({ ctx: service.ctx }, [said]) }));
    expect(told.filter(({ shown }) => NOT_FOR_PEOPLE.test(shown))).toEqual([]);
  });

  it.each([
    [
      "metadata.altText: Instagram takes it only for pictures. The video goes out without it.",
      " The alt text: Instagram takes it only for pictures. The video goes out without it.",
    ],
    [
      "metadata.title: is the name of a file, and there is none.",
      " Title is the name of a file, and there is none.",
    ],
    [
      "The same text is live on this channel since Friday 27 November 2026, 09:00 (UTC) (post post_01m8a). Leave this one out if that was not meant.",
      " The same text is live on this channel since Friday 27 November 2026, 09:00 (UTC). Leave this one out if that was not meant.",
    ],
    [
      "scheduledAt: there is no 2027-03-28T02:30 in UTC. 2027-03-28T03:30+02:00 was taken.",
      " The time: there is no Sun 28 Mar 2027, 02:30 in UTC. Sunday 28 March 2027, 01:30 (UTC) was taken.",
    ],
    [
      'Feed says: "metadata.x {a} post_1 on 2026-11-27". Done.',
      ' Feed says: "metadata.x {a} post_1 on 2026-11-27". Done.',
    ],
  ])("%s", (warning, told) => {
    expect(describeDoubts({ ctx: service.ctx }, [warning, warning])).toBe(told);
  });
});
