import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await startService({}, {}, "Europe/Berlin");
  await service.call("connect_channel", { provider: "feed", name: "Blog" });
  await service.call("connect_channel", { provider: "feed", name: "Shop" });
});
afterEach(() => service[Symbol.asyncDispose]());

const read = (...lines: string[]): Promise<any> =>
  service.call("import_posts", { csv: lines.join("\n"), dryRun: true });

/** The one row of a table, or why it is bad. */
async function readOne(head: string, row: string): Promise<any> {
  const { rows, errors } = await read(head, row);
  return rows[0] ?? errors[0];
}

const NINE = "2027-01-31T08:00:00.000Z";

describe("columns as people name them", () => {
  it.each([
    ["channel,text,date,time,image", "Blog,Hello,2027-01-31,9:00,https://media.example/a.jpg"],
    ["Account,Message,When,Picture", "Blog,Hello,2027-01-31 9:00,https://media.example/a.jpg"],
    ["CHANNEL;Caption;Date;Time;Photo URL", "Blog;Hello;31.01.2027;9 AM;https://media.example/a.jpg"],
    ["Platform,Content,Publish Date,Image URL", "blog,Hello,2027-01-31T09:00,https://media.example/a.jpg"],
    ["channels,post,time,media", "Blog,Hello,31/01/2027 09:00:00,https://media.example/a.jpg"],
    ["date,message,channel,video", "2027/1/31 9:00 am,Hello,Blog,https://media.example/a.jpg"],
    ["account_id,scheduled-at,body,media_url", "Blog,20270131T090000,Hello,https://media.example/a.jpg"],
  ])("%s", async (head, row) => {
    expect(await readOne(head, row)).toMatchObject({
      line: 2,
      scheduledAt: NINE,
      caption: "Hello",
      mediaUrl: "https://media.example/a.jpg",
    });
  });

  it("name fields of the platform, too, and a link stands where it belongs", async () => {
    const csv = [
      "channel,date,text,title,Alt text,link,image",
      "Blog,2027-01-31 09:00,One,A title,,https://example.com/1,",
      "Blog,2027-01-31 09:00,Two,,A dog,https://example.com/2,https://media.example/a.jpg",
    ].join("\n");
    await service.call("import_posts", { csv, dryRun: false });
    const { posts } = await service.call("list_posts", {});
    const found = posts.map(({ caption, metadata }: any) => ({ caption, metadata }));
    expect(found).toContainEqual({
      caption: "One",
      metadata: { title: "A title", link: "https://example.com/1" },
    });
    expect(found).toContainEqual({ caption: "Two\nhttps://example.com/2", metadata: { altText: "A dog" } });
  });

  it("may name several channels in a cell, each of which gets its post", async () => {
    const { rows, counts } = await read("channels,text,time", '"Blog, Shop",Hello,2027-01-31 09:00');
    expect(counts).toMatchObject({ rows: 2, new: 2 });
    expect(rows.map(({ line, caption }: any) => [line, caption])).toEqual([
      [2, "Hello"],
      [2, "Hello"],
    ]);
    expect(rows[0].accountId).not.toBe(rows[1].accountId);
  });
});

describe("days and times as people write them", () => {
  it.each([
    ["2027-01-31", "9:00", NINE],
    ["2027-1-31", "09:00:00", NINE],
    ["31.1.2027", "9am", NINE],
    ["31-01-2027", "9:00:00 AM", NINE],
    ["1/31/2027", "8:00Z", NINE],
    ["31 January 2027", "9:00", NINE],
    ["January 31st, 2027", "9am", NINE],
    ["Sunday, Jan. 31, 2027", "9:00", NINE],
    ["4.1.2027", "9:00", "2027-01-04T08:00:00.000Z"],
    ["01/01/2027", "9:30 PM", "2027-01-01T20:30:00.000Z"],
  ])("%s with %s", async (day, time, iso) => {
    expect(await readOne("channel,text,date,time", `Blog,Hello,"${day}",${time}`)).toMatchObject({
      scheduledAt: iso,
    });
    expect(await readOne("channel,text,when", `Blog,Hello,"${day} ${time}"`)).toMatchObject({
      scheduledAt: iso,
    });
  });

  it.each([
    [
      "03/04/2027",
      "9:00",
      "date",
      '"03/04/2027" may begin with the day or with the month. Write it as 2027-04-03 or as 2027-03-04.',
    ],
    ["31.02.2027", "9:00", "date", '"31.02.2027" is not a day. Write it as 2031-01-30.'],
    ["31.1.27", "9:00", "date", '"31.1.27" is not a day. Write it as 2031-01-30.'],
    [
      "2/12/2026",
      "9:00",
      "date",
      '"2/12/2026" may begin with the day or with the month. Write it as 2026-12-02, if that is meant: the other day is over.',
    ],
    [
      "Thursday 3 Dec",
      "9:00",
      "date",
      '"Thursday 3 Dec" names no year. Did you mean 2026-12-03? Ask the person.',
    ],
    ["Friday 3 Dec", "9:00", "date", '"Friday 3 Dec" names no year. Write it with its year.'],
    ["", "9:00", "date", "is empty. Write it as 2031-01-30."],
    ["2027-13-40", "9:00", "date", '"2027-13-40" is not a day. Write it as 2031-01-30.'],
    ["2027-02-30", "9:00", "date", '"2027-02-30" is not a day. Write it as 2031-01-30.'],
    ["2300-01-01", "9:00", "date", '"2300-01-01" is not a day from 1970 to 2199. Write it as 2031-01-30.'],
    ["2027-01-31", "9:00+25:00", "time", '"9:00+25:00" is not a time of day. Write it as 09:00.'],
    ["2027-01-31", "25:00", "time", '"25:00" is not a time of day. Write it as 09:00.'],
    ["2027-01-31", "noonish", "time", '"noonish" is not a time of day. Write it as 09:00.'],
    ["2027-01-31", " ", "time", "is empty. Write it as 09:00."],
  ])("refuses %j with %j by its cell", async (day, time, column, sentence) => {
    const title = column === "date" ? "Date" : "Time";
    expect(await readOne("channel,text,Date,Time", `Blog,Hello,${day},${time}`)).toEqual({
      line: 2,
      column: title,
      error: `${column}: ${sentence}`,
    });
  });

  it.each([
    ["2026-13-40 12:00", '"2026-13-40 12:00" is not a date and time. Write it as 2031-01-30 09:00.'],
    [
      "03/04/2027 9:00",
      '"03/04/2027 9:00" may begin with the day or with the month. Write it as 2027-04-03 09:00 or as 2027-03-04 09:00.',
    ],
    ["31.01.2027", '"31.01.2027" has no time of day. Write it as 31.01.2027 09:00.'],
    ["2027-01-31", '"2027-01-31" has no time of day. Write it as 2027-01-31 09:00.'],
    [
      "Jan 31 9am",
      expect.stringMatching(
        /"Jan 31 9am" names no year\. Did you mean 2027-01-31T09:00\S+\? Ask the person\.$/,
      ),
    ],
    [
      "2/12/2026 9:00",
      '"2/12/2026 9:00" may begin with the day or with the month. Write it as 2026-12-02 09:00, if that is meant: the other day is over.',
    ],
    [
      "now",
      '"now" is not a date and time. An import publishes nothing at once. Write a day and a time that are ahead.',
    ],
    ["31 January 2027", '"31 January 2027" has no time of day. Write it as 31 January 2027 09:00.'],
    ["2027-02-31 9:00", '"2027-02-31 9:00" is not a date: that month has 28 days. Give another day.'],
    [
      "Monday 31 January 2027 9:00",
      '"Monday 31 January 2027 9:00" is not a date and time. Ask the person which day and time are meant.',
    ],
    ["next week", '"next week" is not a date and time. Ask the person which day and time are meant.'],
    // A word of today would mean another day when the same table is imported again.
    [
      "tomorrow 9am",
      expect.stringMatching(
        /^scheduledAt: "tomorrow 9am" is not a date and time\. Did you mean 2\d{3}-\d\d-\d\dT09:00/,
      ),
    ],
  ])("quotes a cell as it stands: %s", async (cell, sentence) => {
    const error = typeof sentence === "string" ? `scheduledAt: ${sentence}` : sentence;
    const refused = { line: 2, column: "When", error };
    expect(await readOne("channel,text,When", `Blog,Hello,${cell}`)).toEqual(refused);
    const named = { csv: `channel,text,When\nBlog,Hello,${cell}`, timezone: "Asia/Tokyo" };
    expect((await service.call("import_posts", named)).errors).toEqual([refused]);
  });

  it("are told by the other rows whether the day or the month comes first", async () => {
    const rows = (dates: readonly string[]): string[] =>
      dates.map((day, nth) => `Blog,Text ${nth},${day} 09:00`);
    const timesOf = async (dates: readonly string[]): Promise<string[]> =>
      (await read("channel,text,date", ...rows(dates))).rows.map(({ scheduledAt }: any) =>
        scheduledAt.slice(0, 10),
      );
    expect(await timesOf(["03/04/2027", "31/01/2027"])).toEqual(["2027-04-03", "2027-01-31"]);
    expect(await timesOf(["03/04/2027", "01/31/2027"])).toEqual(["2027-03-04", "2027-01-31"]);
    expect(await timesOf(["03/04/2027", "01/31/2027", "31/01/2027"])).toEqual(["2027-01-31", "2027-01-31"]);
    expect(await timesOf(["03.04.2027", "01/31/2027"])).toEqual(["2027-04-03", "2027-01-31"]);
    const past = await read("channel,text,date", ...rows(["04/12/2026", "01/31/2027"]));
    expect(past.errors[0].error).toContain("2026-04-12T09:00+02:00 is in the past");
    expect(past.warnings.map(({ warning }: any) => warning)).toEqual([
      'Dates such as "04/12/2026 09:00" were read as month/day/year, because of "01/31/2027 09:00". If that is wrong, write them as 2031-01-30.',
    ]);
  });
});
