import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY } from "../../src/domain/time.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();
const newPost = async (): Promise<string> =>
  (await service.call("schedule_post", { accountId, caption: "Waits", scheduledAt: at(DAY) })).post.id;
const newDraft = async (): Promise<{ id: string; revision: number }> =>
  (await service.call("save_draft", { caption: "Hello", targets: [{ accountId }], submit: true })).draft;

/** Each address that takes a time, and a body of it that would do without. */
const ROUTES: Readonly<Record<string, () => Promise<[target: string, body: object]>>> = {
  "POST /posts": async () => ["POST /api/v1/posts", { accountId, caption: "Hello" }],
  "PATCH /posts/{id}": async () => [`PATCH /api/v1/posts/${await newPost()}`, { caption: "Other" }],
  "POST /posts/{id}": async () => [`POST /api/v1/posts/${await newPost()}`, {}],
  "POST /drafts": async () => ["POST /api/v1/drafts", { caption: "Hello" }],
  "PATCH /drafts/{id}": async () => {
    const { id, revision } = await newDraft();
    return [`PATCH /api/v1/drafts/${id}`, { revision, caption: "Other" }];
  },
  "POST /drafts/{id}": async () => {
    const { id, revision } = await newDraft();
    return [`POST /api/v1/drafts/${id}`, { revision, decision: "approve" }];
  },
};

describe("an empty time", () => {
  it.each(Object.entries(ROUTES))("is refused by %s, and nothing becomes of it", async (_name, make) => {
    const [target, body] = await make();
    const before = await service.call("list_posts", {});
    for (const scheduledAt of ["", " ", "\t\n", "\u00a0"]) {
      const answer = await service.ask(target, { json: { ...body, scheduledAt } });
      expect(answer).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/^scheduledAt: is empty\./) },
      });
    }
    expect(await service.call("list_posts", {})).toEqual(before);
  });

  it("is refused in rows, targets and tables, also where they come as JSON in a text", async () => {
    const row = { accountId, caption: "Hello", scheduledAt: " " };
    for (const posts of [[row], JSON.stringify([row]), row])
      await expect(service.call("schedule_posts", { posts })).rejects.toThrow(
        "posts[0].scheduledAt: is empty.",
      );
    const target = { accountId, scheduledAt: "" };
    for (const targets of [[target], JSON.stringify(target)])
      await expect(service.call("save_draft", { caption: "Hello", targets })).rejects.toThrow(
        "targets[0].scheduledAt: is empty.",
      );
    const cells = ["", " ", "'", '"\n"'];
    const csv = ["accountId,scheduledAt,caption", ...cells.map((cell) => `${accountId},${cell},Hello`)].join(
      "\n",
    );
    const { errors, imported } = await service.call("import_posts", { csv, dryRun: false });
    expect(imported).toBe(0);
    expect(errors).toHaveLength(cells.length);
    for (const { column, error } of errors) {
      expect(column).toBe("scheduledAt");
      expect(error).toMatch(/^scheduledAt: is empty\./);
    }
  });

  it("is not null, which leaves a time out, or empties that of a draft", async () => {
    const now = { accountId, caption: "Now" };
    const { post, warnings } = await service.call("schedule_post", { ...now, scheduledAt: null });
    expect(post.scheduledAt).toBe(at(0));
    expect(warnings).toEqual([
      "It goes out at once, because no time was given: scheduledAt came empty. If that was not meant, call cancel_post with fromPlatform.",
    ]);
    const inNoSlot = await service.call("schedule_post", { accountId, caption: "Too", slot: "" });
    expect(inNoSlot.warnings.join()).toContain("slot came empty");
    expect((await service.call("schedule_post", { accountId, caption: "Meant" })).warnings).toEqual([]);
    const { draft } = await service.call("save_draft", { caption: "Hello", scheduledAt: at(DAY) });
    const change = { id: draft.id, revision: draft.revision, scheduledAt: null };
    expect((await service.call("save_draft", change)).draft.scheduledAt).toBeNull();
  });
});

describe("a time without an offset", () => {
  const LOCAL = "2027-01-31T09:00";
  const told = "scheduledAt has no offset. It was read as UTC.";

  it("is taken in silence, but over HTTP, where a warning names the zone", async () => {
    const json = { accountId, caption: "Hello", scheduledAt: LOCAL };
    expect((await service.call("schedule_post", json)).warnings).toEqual([]);
    const answer = await service.ask("POST /api/v1/posts", {
      json: { ...json, caption: "Two", scheduledAt: "2027-01-31T10:00" },
    });
    expect(answer.json.warnings).toEqual([told]);
    const id = answer.json.post.id;
    const changed = await service.ask(`PATCH /api/v1/posts/${id}`, {
      json: { scheduledAt: "2027-02-01 9:00" },
    });
    expect(changed.json).toMatchObject({
      post: { scheduledAt: "2027-02-01T09:00:00.000Z" },
      warnings: [told],
    });
    const drafted = { caption: "Hello", scheduledAt: LOCAL, targets: [{ accountId, scheduledAt: LOCAL }] };
    expect((await service.call("save_draft", drafted)).warnings).toEqual([]);
    expect((await service.ask("POST /api/v1/drafts", { json: drafted })).json.warnings).toContain(told);
  });

  it("is told of once in a list and in a table", async () => {
    const posts = Array.from({ length: 30 }, (_, nth) => ({
      accountId,
      caption: `Post ${nth}`,
      scheduledAt: `2027-01-31 9:${String(nth + 10)}`,
    }));
    const { json } = await service.ask("POST /api/v1/tools/schedule_posts", { json: { posts } });
    const warnings: string[] = json.result.results.flatMap((one: { warnings: string[] }) => one.warnings);
    expect(warnings).toEqual([`${told} The same holds for 29 more of these posts.`]);
    const rows = posts.map(
      ({ caption, scheduledAt }) => `${accountId},${scheduledAt.replace(" 9:", " 8:")},${caption} of a table`,
    );
    const body = { csv: ["accountId,scheduledAt,caption", ...rows].join("\n") };
    expect((await service.ask("POST /api/v1/posts/import", { json: body })).json.warnings).toEqual([
      { line: 2, rows: 30, warning: told },
    ]);
    expect((await service.call("import_posts", body)).warnings).toEqual([]);
  });
});

describe("a time that people leave open", () => {
  it.each([
    ["in January", "Ask the person which day and time are meant."],
    ["next week", "Ask the person which day and time are meant."],
    ["sometime soon", "Ask the person which day and time are meant."],
    ["9 pm CET", "The zone CET is not read: give the time with its offset, such as +01:00,"],
    ["29 Feb 2027", "that month has 28 days. Give another day."],
    ["Feb 29, 2027 9:00", "that month has 28 days. Give another day."],
    ["31.6.2027 9:00", "that month has 30 days. Give another day."],
  ])("is refused without an example that could be taken for it: %s", async (scheduledAt, told) => {
    const calls = [
      ["schedule_post", { accountId, caption: "Hello", scheduledAt }],
      ["save_draft", { caption: "Hello", targets: [{ accountId }], scheduledAt }],
    ] as const;
    for (const [tool, args] of calls) {
      const refused = await service.call(tool, args).then(
        () => "",
        (error: unknown) => String(error),
      );
      expect(refused).toContain(told);
      expect(refused).not.toContain("2031");
    }
  });
});
