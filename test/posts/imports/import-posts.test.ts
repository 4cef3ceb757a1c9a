import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../../src/domain/time.ts";
import { storeUpload } from "../../../src/files/file-uploads.ts";
import { exportPosts } from "../../../src/posts/imports/export-posts.ts";
import { plainCall } from "../../../src/context.ts";
import { callerOf } from "../../support/context.ts";
import { queryOf, withWrite } from "../../support/handles.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import type { Reader } from "../../../src/store/engine/store.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

const run = (csv: string, args: object = {}, caller: object = {}): Promise<any> =>
  service.call("import_posts", { csv, dryRun: false, ...args }, caller);

async function listed(args: object = {}): Promise<any[]> {
  return (await service.call("list_posts", { limit: 500, status: ["scheduled"], ...args })).posts;
}

const readAll = (reader: Reader): Promise<object[]> =>
  queryOf(reader).selectFrom("imported_rows").selectAll().execute();

const TEXTS = ["One", "Two", "Three"];

/** A table with a row a text, each a day after the one before. */
function tableOf(texts: readonly string[] = TEXTS): string {
  const rows = texts.map((text, nth) => `${accountId},${at((nth + 1) * DAY)},${text}`);
  return ["accountId,scheduledAt,caption", ...rows].join("\n");
}

/** What a person is asked before it, who then says no. */
const questionOf = (csv: string, args: object = {}) =>
  service.questionOf("import_posts", { csv, dryRun: false, ...args });

describe("the question before an import", () => {
  it("tells each post with its channel and time, up to ten", async () => {
    expect(await questionOf(tableOf(["One"]))).toBe(
      "Import 1 post? It goes out at its time. Feed of default, Sunday 22 November 2026, 09:00 (UTC): “One”.",
    );
    const texts = Array.from({ length: 12 }, (_, nth) => `No ${nth + 1}`);
    expect(await questionOf(tableOf(texts))).toMatch(
      /^Import 12 posts\? Each goes out at its time\. Feed of default, Sunday .*: “No 1”; .*“No 10”; and 2 more\.$/,
    );
    const now = `accountId,scheduledAt,caption\n${accountId},${at(0)},Now\n${accountId},${at(DAY)},Later`;
    expect(await questionOf(now)).toMatch(
      /^Import 2 posts\? 1 of them goes out now, the others at their times\. Feed of default, now: “Now”; /,
    );
    expect(await questionOf(tableOf(["Four"]), { as: "drafts" })).toBeNull();
    expect(await listed()).toEqual([]);
  });
});

describe("an import", () => {
  it("says of rows that are drafts already that nothing of them is planned, and what to do", async () => {
    const made = await run(tableOf(), { as: "drafts" });
    expect(made.warnings).toMatchObject([
      { rows: 3, warning: expect.stringMatching(/nothing of them goes out before/) },
    ]);
    const told = {
      rows: 3,
      warning: expect.stringMatching(
        /^3 rows are drafts already, from an earlier import, so not scheduled\. .*decide_draft/,
      ),
    };
    for (const dryRun of [true, false])
      expect(await run(tableOf(), { dryRun })).toMatchObject({
        imported: 0,
        counts: { existing: 3 },
        warnings: [told],
      });
    const { drafts } = await service.call("list_drafts", {});
    for (const { id, revision } of drafts.slice(0, 2))
      await service.call("decide_draft", { id, revision, decision: "discard" });
    expect((await run(tableOf())).warnings).toMatchObject([
      { rows: 1, warning: expect.stringMatching(/^1 row is a draft already/) },
      {
        rows: 2,
        warning: expect.stringMatching(/^2 rows were drafts that were discarded, so not scheduled\./),
      },
    ]);
    await service.call("decide_draft", { id: drafts[2].id, revision: 1, decision: "approve" });
    expect((await run(tableOf())).warnings).toHaveLength(1);
  });

  it("says of rows that are posts already what became of those", async () => {
    const texts = ["Zero", "One", "Two", "Three", "Four", "Five"];
    const { rows } = await run(tableOf(texts));
    const [waits, one, two, failed, live, gone] = rows.map(({ id }: any) => id);
    for (const id of [one, two]) await service.call("cancel_post", { id });
    const set = (id: string, values: object): Promise<unknown> =>
      queryOf(service.ctx.store).updateTable("posts").set(values).where("id", "=", id).execute();
    await set(failed, { status: "failed", error: "Refused." });
    await set(live, { status: "published", published_at: 1 });
    await set(gone, { status: "cancelled", published_at: 1 });
    const told = [
      {
        line: 3,
        rows: 2,
        warning: /^2 rows \(lines 3, 4\) were posts that were cancelled, so not scheduled again\. /,
      },
      { line: 7, rows: 1, warning: /^1 row was a post that was live and taken down, so / },
      { line: 5, rows: 1, warning: /^1 row is a post that failed, so .* retry_post does that: post_/ },
      { line: 6, rows: 1, warning: /^1 row is a post that is out or under way already, so / },
      { line: 2, rows: 1, warning: /^1 row is a post already, so not scheduled again\.$/ },
    ];
    const toldOf = (all: readonly any[]): object[] =>
      all.map((one) => ({ ...one, warning: expect.stringMatching(one.warning) }));
    for (const dryRun of [true, false])
      expect((await run(tableOf(texts), { dryRun })).warnings).toEqual(toldOf(told));
    const drafts = await run(tableOf(texts), { as: "drafts" });
    expect(drafts).toMatchObject({ imported: 0, counts: { existing: 6 } });
    expect(drafts.warnings.at(-1)).toMatchObject({
      line: 2,
      warning: expect.stringMatching(
        /^1 row is a post already, which goes out at the planned time without an approval, so no draft was made\./,
      ),
    });
    expect(drafts.warnings).toHaveLength(5);
    expect(waits).toMatch(/^post_/);
  });

  it("makes drafts without a time of a table that has none, and no posts", async () => {
    const csv = `channel,text\n${accountId},One\n${accountId},Two`;
    await expect(run(csv)).rejects.toThrow(/has no column scheduledAt .* only drafts need no time\.$/);
    const made = await run(csv, { as: "drafts" });
    expect(made).toMatchObject({ imported: 2, errors: [] });
    expect(made.warnings.map(({ warning }: any) => warning).join()).toMatch(
      /what is approved goes out at once/,
    );
    expect(made.warnings).toHaveLength(2);
    const { drafts } = await service.call("list_drafts", {});
    expect(drafts).toMatchObject([
      { scheduledAt: null, slot: null },
      { scheduledAt: null, slot: null },
    ]);
    // A cell that is empty may be a slip.
    const empty = `channel,text,date\n${accountId},Three,`;
    expect((await run(empty, { as: "drafts" })).errors).toMatchObject([
      { error: expect.stringMatching(/is empty\. .*a table that has no such column/) },
    ]);
  });

  it("makes drafts that wait for a person, each once", async () => {
    const csv = `accountId,scheduledAt,caption,labels,note\n${accountId},${at(DAY)},One,"a,b",Why`;
    const answer = await run(csv, { as: "drafts" });
    expect(answer).toMatchObject({ imported: 1, counts: { new: 1 } });
    const { drafts } = await service.call("list_drafts", {});
    expect(drafts).toMatchObject([
      {
        id: answer.rows[0].id,
        state: "waiting",
        caption: "One",
        scheduledAt: at(DAY),
        labels: ["a", "b"],
        note: "Why",
        targets: [{ accountId }],
        checks: [{ accountId, error: null, preview: { text: "One" } }],
      },
    ]);
    expect(await listed()).toEqual([]);
    expect(await run(csv, { as: "drafts" })).toMatchObject({ imported: 0, counts: { existing: 1 } });
    const { id, revision } = drafts[0];
    await service.call("decide_draft", { id, revision, decision: "approve" });
    expect(await listed({ label: ["a"] })).toHaveLength(1);
  });

  it("brings labels and notes there and back", async () => {
    const csv = `accountId,scheduledAt,caption,labels,note\n${accountId},${at(DAY)},One,"a,b",Why`;
    await run(csv);
    const { lines } = await exportPosts(plainCall(service.ctx, callerOf()));
    expect(lines.join("")).toContain("labels,note");
    const [post] = await listed({ label: ["b"] });
    expect(await service.call("get_post", { id: post.id })).toMatchObject({
      labels: ["a", "b"],
      note: "Why",
    });
  });

  it("is a dry run unless told otherwise, and shows the rows", async () => {
    const answer = await service.call("import_posts", { csv: tableOf() });
    expect(answer).toMatchObject({
      dryRun: true,
      imported: 0,
      counts: { rows: 3, new: 3, existing: 0, bad: 0 },
      source: null,
      errors: [],
    });
    expect(answer.rows[1]).toEqual({
      line: 3,
      id: null,
      isNew: true,
      accountId,
      scheduledAt: at(2 * DAY),
      caption: "Two",
      mediaUrl: "",
    });
    expect(await listed()).toEqual([]);
  });

  it("makes the posts that schedule_post would make", async () => {
    const csv = [
      "AccountID;scheduledat;CAPTION;mediaUrl;leadMinutes;metadata.title;metadata.tags;metadata.moreMedia;thumbnailUrl",
      `Feed of default;${at(DAY)};"Hello; ""you""";https://media.example/a.jpg;20;A title;one, two;"[{""url"":""https://media.example/b.jpg"",""altText"":""B""}]";https://media.example/t.jpg`,
    ].join("\r\n");
    const answer = await run(csv);
    expect(answer).toMatchObject({ imported: 1, counts: { new: 1 } });
    const [imported] = await listed();
    await service.call("cancel_post", { id: imported.id });
    const { post } = await service.call("schedule_post", {
      accountId,
      scheduledAt: at(DAY),
      caption: 'Hello; "you"',
      mediaUrl: "https://media.example/a.jpg",
      leadMinutes: 20,
      metadata: {
        title: "A title",
        tags: ["one", "two"],
        moreMedia: [{ url: "https://media.example/b.jpg", altText: "B" }],
      },
      thumbnailUrl: "https://media.example/t.jpg",
    });
    expect({ ...imported, id: post.id }).toEqual(post);
    expect(answer.rows[0].id).toBe(imported.id);
  });

  it("makes none where one row is bad, and names every bad row by line and column", async () => {
    const rows = [
      `${accountId},${at(DAY)},Good,,,`,
      `${accountId},21.13.2026 09:00,"Two`,
      `lines",,,`,
      ``,
      `acc_missing,${at(DAY)},x,,,`,
      `${accountId},11/21/26 9am,x,,,`,
      `${accountId},,x,,,`,
      `,${at(DAY)},x,,,`,
      `${accountId},${at(-DAY)},x,,,`,
      `${accountId},${at(DAY)},x,soon,,`,
      `${accountId},${at(DAY)},x,,ftp://a.example/b,`,
      `${accountId},${at(DAY)},x,,,5,and more`,
      `${accountId},${at(DAY)},,,,`,
    ];
    const csv = ["accountId,scheduledAt,caption,leadMinutes,mediaUrl,metadata.boardId", ...rows].join("\n");
    const answer = await run(csv);
    expect(answer.counts).toEqual({ rows: 11, new: 1, existing: 0, bad: 10 });
    expect(answer.imported).toBe(0);
    expect(await listed()).toEqual([]);
    const told = answer.errors.map(({ line, column }: any) => [line, column]);
    expect(told).toEqual([
      [3, "scheduledAt"],
      [6, "accountId"],
      [7, "scheduledAt"],
      [8, "scheduledAt"],
      [9, "accountId"],
      [10, "scheduledAt"],
      [11, "leadMinutes"],
      [12, "mediaUrl"],
      [13, null],
      [14, "caption"],
    ]);
    for (const { error } of answer.errors) expect(error).toMatch(/^[A-Za-z].*\.$/);
    const [first] = answer.errors;
    expect(first.error).toContain('"21.13.2026 09:00" is not a date and time. Give ISO 8601');
  });

  it("names an unknown field of the platform by its column", async () => {
    const csv = `accountId,scheduledAt,caption,metadata.boardId\n${accountId},${at(DAY)},x,5`;
    const [{ line, column, error }] = (await run(csv)).errors;
    expect({ line, column }).toEqual({ line: 2, column: "metadata.boardId" });
    expect(error).toContain('"boardId" is not a known field');
  });

  it.each<readonly [csv: string, sentence: string]>([
    ["", "csv: is missing"],
    [" \n\n", "csv: is missing"],
    ["accountId,capton\n", '"capton" is not a known column. Did you mean caption?'],
    ["accountId,caption\na,b", "csv: has no column scheduledAt (or date and time), which says when"],
    ["scheduledAt,text,message\n", 'the column "message" is there twice, as "text": both are caption.'],
    ["date,time,when\n", "csv: has no column accountId"],
    ["scheduledAt,time\n", 'the column "time" is there twice, as "scheduledAt": both are scheduledAt.'],
    ["accountId,dryRun\n", '"dryRun" is not a known column.'],
    ["accountId,caption,Caption\n", 'the column "Caption" is there twice'],
    ["scheduledAt,caption\n2027-01-01T00:00:00Z,x", "csv: has no column accountId"],
    ['accountId,caption\na,"x\n', "line 2: a quote opens a cell that nothing closes"],
    ['accountId,caption\r\na,"x\r\ny"\r\na,x"y\r\n', "line 4: the quotes are wrong"],
    ['accountId,caption\n"a"b,x\n', "line 2: the quotes are wrong"],
    [`accountId,caption\n${"a,x\n".repeat(5_001)}`, "has more than 5000 rows"],
    [`accountId,caption\n${"\n".repeat(100_001)}`, "has more than 5000 rows"],
    [`accountId,caption\n${"x,".repeat(300)}`, "has more than 200 columns"],
    [`accountId,caption\na,"${"x".repeat(900_000)}"`, "is longer than a row can be"],
  ])("refuses a table that cannot be read, %#", async (csv, sentence) => {
    await expect(run(csv)).rejects.toThrow(sentence);
  });

  it("reads times without an offset in the zone that is named", async () => {
    const csv = `accountId,scheduledAt,caption\n${accountId},2027-01-31 09:00,a\n${accountId},2027-03-28T02:30,b\n${accountId},2027-01-31T09:00:00+05:00,c`;
    const here = await run(csv, { dryRun: true });
    expect(here.warnings).toEqual([]);
    expect(here.rows[0].scheduledAt).toBe("2027-01-31T09:00:00.000Z");
    const there = await run(csv, { timezone: "Europe/Berlin" });
    expect(there.rows.map((row: any) => row.scheduledAt)).toEqual([
      "2027-01-31T08:00:00.000Z",
      "2027-03-28T01:30:00.000Z",
      "2027-01-31T04:00:00.000Z",
    ]);
    expect(there.warnings).toEqual([
      { line: 3, rows: 1, warning: expect.stringContaining("the clocks go forward then") },
    ]);
    await expect(run(csv, { timezone: "Mars/Base" })).rejects.toThrow("timezone:");
  });

  it("takes the channel of rows that name none", async () => {
    const other = await service.addFeed();
    const csv = `accountId,scheduledAt,caption\n,${at(DAY)},a\n${other},${at(DAY)},b`;
    await run(csv, { accountId });
    expect((await listed()).map((post) => [post.caption, post.accountId]).toSorted()).toEqual([
      ["a", accountId],
      ["b", other],
    ]);
  });

  it("takes a table that was uploaded, and nothing else that was", async () => {
    const upload = async (name: string, body: Buffer | string): Promise<any> => {
      const call = plainCall(service.ctx, callerOf());
      const bytes = Readable.from([Buffer.from(body)], { objectMode: false });
      return (await storeUpload(call, { name, altText: null, body: bytes })).file;
    };
    const table = await upload("posts.csv", `accountId,scheduledAt,caption\n${accountId},${at(DAY)},Grüße\n`);
    expect(table).toMatchObject({ name: "posts.csv", type: "other", mimeType: "text/csv" });
    expect(await service.call("import_posts", { fileId: table.id, dryRun: false })).toMatchObject({
      imported: 1,
      rows: [{ caption: "Grüße" }],
    });
    const missing = service.call("import_posts", { fileId: "file_missing" });
    await expect(missing).rejects.toThrow("fileId: there is no file");
    const zone = service.call("import_posts", { fileId: "file_missing", timezone: "Mars/Olympus" });
    await expect(zone).rejects.toThrow("timezone: ");
    const both = service.call("import_posts", { fileId: table.id, csv: "caption\na" });
    await expect(both).rejects.toThrow("csv: cannot be given together with fileId");
    const picture = await upload(
      "dot.gif",
      Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"),
    );
    await expect(service.call("import_posts", { fileId: picture.id })).rejects.toThrow(
      `fileId: ${picture.id} is image/gif, not a table. Upload a CSV file.`,
    );
    const post = service.call("schedule_post", { accountId, mediaUrl: table.id, scheduledAt: at(DAY) });
    await expect(post).rejects.toThrow("is of type other, and must be");
  });
});

describe("the same table again", () => {
  it("makes nothing, whatever became of the posts", async () => {
    const first = await run(tableOf());
    const [one, two, three] = first.rows.map((row: any) => row.id);
    await service.call("cancel_post", { id: one });
    await service.call("update_post", { id: two, caption: "Better", scheduledAt: at(5 * DAY) });
    const again = await run(tableOf());
    expect(again).toMatchObject({ imported: 0, counts: { rows: 3, new: 0, existing: 3, bad: 0 } });
    expect(again.rows.map((row: any) => [row.id, row.isNew])).toEqual([
      [one, false],
      [two, false],
      [three, false],
    ]);
    expect(await listed({ status: ["scheduled", "cancelled"] })).toHaveLength(3);
  });

  it("makes nothing once its times are over", async () => {
    const csv = tableOf();
    await run(csv);
    await service.clock.advance(10 * DAY);
    expect(await run(csv)).toMatchObject({ imported: 0, counts: { existing: 3, bad: 0 } });
  });

  it("makes what was added to it", async () => {
    await run(tableOf());
    expect(await run(tableOf([...TEXTS, "Four"]))).toMatchObject({ imported: 1, counts: { existing: 3 } });
    expect(await listed()).toHaveLength(4);
  });

  it("makes one post of two rows that say the same, and says so", async () => {
    const csv = `accountId,scheduledAt,caption\n${`${accountId},${at(DAY)},Same\n`.repeat(3)}`;
    const answer = await run(csv);
    expect(answer).toMatchObject({ imported: 1, counts: { rows: 3, new: 1, existing: 2, bad: 0 } });
    expect(answer.warnings).toEqual([
      { line: 3, rows: 2, warning: "Line 3 is the same as line 2, so one post is made of both." },
    ]);
    expect(await listed()).toHaveLength(1);
  });

  it("finds a post that was scheduled otherwise and waits", async () => {
    const { post } = await service.call("schedule_post", { accountId, scheduledAt: at(DAY), caption: "One" });
    const answer = await run(tableOf());
    expect(answer).toMatchObject({ imported: 2, counts: { existing: 1 } });
    expect(answer.rows[0]).toMatchObject({ id: post.id, isNew: false });
    await service.call("cancel_post", { id: post.id });
    expect(await run(tableOf())).toMatchObject({ imported: 0, counts: { existing: 3 } });
  });

  it("is not the same where a field of the platform differs", async () => {
    const table = (title: string): string =>
      `accountId,scheduledAt,caption,metadata.title\n${accountId},${at(DAY)},x,${title}`;
    await run(table("A"));
    expect(await run(table("B"))).toMatchObject({ imported: 1 });
  });

  it("makes nothing twice where several imports run at once", async () => {
    const texts = Array.from({ length: 60 }, (_, nth) => `Text ${nth}`);
    const tables = [texts, texts.toReversed(), texts.slice(20), texts];
    const rows = new Map(texts.map((text, nth) => [text, `${accountId},${at((nth + 1) * MINUTE)},${text}`]));
    const answers = await Promise.all(
      tables.map((some) =>
        run(["accountId,scheduledAt,caption", ...some.map((text) => rows.get(text))].join("\n")),
      ),
    );
    expect(answers.reduce((sum, { imported }) => sum + imported, 0)).toBe(60);
    for (const { imported, counts } of answers) expect(imported + counts.existing).toBe(counts.rows);
    const posts = await listed();
    expect(new Set(posts.map((post) => post.caption)).size).toBe(60);
    expect(posts).toHaveLength(60);
    const ids = answers.map(({ rows: shown }) => new Map(shown.map((row: any) => [row.caption, row.id])));
    for (const text of texts.slice(20)) expect(new Set(ids.map((found) => found.get(text))).size).toBe(1);
  });

  it("makes all of it where the process before ended right before it was written", async () => {
    const csv = tableOf();
    const dying = withWrite(service.ctx.store, (work) =>
      service.ctx.store.write(async (tx) => {
        await work(tx);
        expect(await readAll(tx)).toHaveLength(3);
        throw new Error("The process ended here.");
      }),
    );
    const toolbox = createToolbox({ ...service.ctx, store: dying }, service.tools);
    const call = toolbox.call("import_posts", { csv, dryRun: false }, callerOf());
    await expect(call).rejects.toThrow("The process ended here.");
    expect(await listed()).toEqual([]);
    expect(await readAll(service.ctx.store)).toEqual([]);
    expect(await run(csv)).toMatchObject({ imported: 3, counts: { existing: 0 } });
  });

  it("is answered the same under one idempotency key", async () => {
    const args = { csv: tableOf(), dryRun: false, idempotencyKey: "k" };
    const first = await service.call("import_posts", args);
    expect(await service.call("import_posts", args)).toEqual(first);
  });

  it("is another owner's own matter", async () => {
    await run(tableOf());
    const foreign = await service.addFeed("other");
    const csv = tableOf().replaceAll(accountId, foreign);
    expect(await run(csv, {}, { ownerId: "other" })).toMatchObject({ imported: 3 });
    expect(await run(tableOf(), {}, { ownerId: "other" })).toMatchObject({ imported: 0, counts: { bad: 3 } });
  });

  it("tells a key that is limited to other accounts no more than that there is no such account", async () => {
    await run(tableOf());
    const other = await service.addFeed();
    const answer = await run(tableOf(), {}, { accountIds: [other] });
    expect(answer).toMatchObject({ imported: 0, rows: [], counts: { existing: 0, bad: 3 } });
    expect(answer.errors[0].error).toContain("there is no account");
  });
});

describe("a key that may only write drafts", () => {
  const permissions = ["read", "draft", "files"] as const;

  it("imports a table as drafts by the tool, and never as posts", async () => {
    const key = await service.keyFor("default", { name: "Claude", permissions: [...permissions] });
    const csv = tableOf();
    const ask = (target: string, json: object): Promise<any> => service.ask(target, { key, json });
    for (const args of [{}, { as: "posts" }, { as: null }, { as: "Drafts" }, { as: ["drafts"] }]) {
      const { status, json } = await ask("POST /api/v1/tools/import_posts", { csv, dryRun: false, ...args });
      expect([status, json.error]).toEqual([
        403,
        'This key may not call import_posts (with as "drafts" it may): it lacks the permission "publish". Use a key that has it, or ask the owner to create one.',
      ]);
      expect((await ask("POST /api/v1/posts/import", { csv, dryRun: false, ...args })).status).toBe(403);
    }
    const { json } = await ask("POST /api/v1/tools/import_posts", { csv, as: "drafts", dryRun: false });
    expect(json.result.imported).toBe(3);
    const { drafts } = await service.call("list_drafts", {});
    expect(drafts.map(({ state, writtenBy }: any) => [state, writtenBy.name])).toEqual(
      TEXTS.map(() => ["waiting", "Claude"]),
    );
    expect(await listed()).toEqual([]);
    const listing = createToolbox(service.ctx, service.tools);
    const permissionOf = (caller: object): unknown =>
      listing.list(callerOf(caller)).find(({ name }) => name === "import_posts")?.permission;
    expect([
      permissionOf({}),
      permissionOf({ permissions }),
      permissionOf({ permissions: ["read"] }),
    ]).toEqual(["publish", "draft", undefined]);
  });
});

describe("bad rows", () => {
  it("keep all others back, which the answer says with what to do next", async () => {
    const bad = `${tableOf()}\n${accountId},yesterday,Bad`;
    const { warnings } = await run(bad);
    expect(warnings[0]).toEqual({
      line: null,
      rows: 1,
      warning:
        "Nothing was imported: 1 of 4 rows is bad, and a table is imported as a whole. Mend what errors tells, then import the table again.",
    });
    expect(await listed()).toEqual([]);
    for (const [csv, dryRun] of [
      [bad, true],
      [tableOf(), false],
    ] as const)
      expect((await run(csv, { dryRun })).warnings).toEqual([]);
  });
});

describe("rows that are posts already", () => {
  it("are shown as those are, and one warning tells of all, and which differ", async () => {
    const table = tableOf();
    const [one, two] = (await run(table)).rows;
    service.clock.advance(1_000);
    await service.call("update_post", { id: one.id, caption: "Uno", scheduledAt: at(9 * DAY) });
    const again = await run(table, { dryRun: true });
    expect(again.rows).toMatchObject([
      { id: one.id, isNew: false, caption: "Uno", scheduledAt: at(9 * DAY) },
      { id: two.id, isNew: false, caption: "Two" },
      { caption: "Three" },
    ]);
    expect(again.warnings).toEqual([
      {
        line: 2,
        rows: 3,
        warning:
          "3 rows (lines 2, 3, 4) are posts already, so not scheduled again. 1 of them was changed since (line 2): rows shows what the post is now, not what the table says.",
      },
    ]);
  });

  it("are one post where two of them are", async () => {
    const table = tableOf(["One"]);
    const [{ id }] = (await run(table)).rows;
    service.clock.advance(1_000);
    await service.call("update_post", { id, caption: "Uno" });
    const [head, row = ""] = table.split("\n");
    const { rows, warnings } = await run([head, row, row.replace("One", "Uno")].join("\n"), { dryRun: true });
    expect(rows.map((one: { id: string }) => one.id)).toEqual([id, id]);
    expect(warnings).toContainEqual({
      line: 3,
      rows: 1,
      warning: "Rows that differ are one post already: line 3 is the one of line 2.",
    });
  });
});
