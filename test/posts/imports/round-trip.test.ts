import { expect, it } from "vitest";
import { plainCall } from "../../../src/context.ts";
import { DAY, MINUTE } from "../../../src/domain/time.ts";
import { exportPosts } from "../../../src/posts/imports/export-posts.ts";
import { callerOf } from "../../support/context.ts";
import { startService } from "../../support/service.ts";
import { createRandom } from "../../support/random.ts";

/** What spreadsheets, separators and escapes trip over. */
const PIECES = [
  "=1+1",
  "@alice",
  "+49",
  "-",
  "'",
  "''=",
  '"',
  ",",
  ";",
  "\t",
  "\n",
  "\r\n",
  "\r",
  " ",
  "a",
  "Grüße",
  "🎉",
  "\u{FEFF}",
  "|",
  "\\",
  "[",
  "{",
  "]",
  "null",
  "true",
  "007",
  "1e3",
  "＝x",
  "sep=;",
  "#",
  "%",
];

it(
  "posts that are exported and imported elsewhere are the same, cell by cell",
  { timeout: 60_000 },
  async () => {
    const random = createRandom(20_261_124);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const text = (): string =>
      Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(PIECES)).join("");
    const maybe = <T>(name: string, make: () => T): object => (random() < 0.5 ? { [name]: make() } : {});

    await using from = await startService();
    await using to = await startService();
    const accountId = await from.addFeed();
    const there = await to.addFeed();
    const start = from.clock.now() + DAY;
    await to.clock.advance(from.clock.now() - to.clock.now());
    for (let nth = 0; nth < 300; nth += 1) {
      const metadata = {
        ...maybe("title", text),
        ...maybe("description", () => pick(["", text()])),
        ...maybe("tags", () => [text(), text()]),
        ...maybe("altText", () => pick(["", text()])),
        ...maybe("moreMedia", () => [{ url: "https://media.example/b.jpg", altText: text() }]),
        ...maybe("link", () => "https://example.com/?a=1,2;3"),
      };
      await from.call("schedule_post", {
        accountId,
        scheduledAt: new Date(start + nth * MINUTE + Math.floor(random() * 1_000)).toISOString(),
        caption: `${text()}x`,
        ...maybe("mediaUrl", () => "https://media.example/a.jpg"),
        ...maybe("leadMinutes", () => Math.floor(random() * 60)),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      });
    }
    const { lines } = await exportPosts(plainCall(from.ctx, callerOf()));
    const csv = lines.join("");
    const [separator, head = ""] = lines;
    expect(separator).toBe("sep=,\n");
    expect(head.startsWith("accountId,scheduledAt,")).toBe(true);

    const answer = await to.call("import_posts", { csv: csv.replaceAll(accountId, there), dryRun: false });
    expect(answer.errors).toEqual([]);
    expect(answer.imported).toBe(300);
    const content = ({ scheduledAt, caption, mediaUrl, metadata, leadMinutes }: any): object => ({
      scheduledAt,
      caption,
      mediaUrl,
      metadata,
      leadMinutes,
    });
    const read = async (service: typeof from): Promise<object[]> =>
      (await service.call("list_posts", { limit: 500 })).posts.map(content);
    expect(await read(to)).toEqual(await read(from));
    const again = (await exportPosts(plainCall(to.ctx, callerOf()))).lines.join("");
    expect(again.replaceAll(there, accountId)).toBe(csv);

    // Where they are already, none of them is made a second time.
    const here = await from.call("import_posts", { csv, dryRun: false });
    expect(here).toMatchObject({ imported: 0, counts: { rows: 300, existing: 300, bad: 0 } });
  },
);

it("holds the posts that wait for a time to come, earliest first", async () => {
  await using service = await startService();
  const accountId = await service.addFeed();
  const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();
  const schedule = async (caption: string, ms: number): Promise<string> =>
    (await service.call("schedule_post", { accountId, caption, scheduledAt: at(ms) })).post.id;
  const late = await schedule("Late", MINUTE);
  const gone = await schedule("Cancelled", 2 * DAY);
  await service.call("cancel_post", { id: gone });
  await schedule("Second", 3 * DAY);
  await schedule("=First", 2 * DAY);
  await service.clock.advance(DAY);
  const { lines, overdue, withOwnFiles } = await exportPosts(plainCall(service.ctx, callerOf()));
  expect(lines).toEqual([
    "sep=,\n",
    "accountId,scheduledAt,mediaUrl,caption\n",
    `Feed of default,${at(DAY)},,'=First\n`,
    `Feed of default,${at(2 * DAY)},,Second\n`,
  ]);
  expect([overdue, withOwnFiles]).toEqual([1, 0]);
  expect(late).not.toBe("");
});
