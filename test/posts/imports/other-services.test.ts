import { describe, expect, it } from "vitest";
import { toOwnTable } from "../../../src/posts/imports/other-services.ts";
import { readTable } from "../../../src/posts/imports/read-table.ts";

/** Each row by the fields that it gives. */
function read(csv: string) {
  const { service, columns, rows, warnings } = toOwnTable(readTable(csv));
  const fields = rows.map(({ line, cells }) => ({
    line,
    ...Object.fromEntries(columns.flatMap(({ field, at }) => (cells[at] === "" ? [] : [[field, cells[at]]]))),
  }));
  return { service, rows: fields, warnings, columns };
}

describe("a table of another service", () => {
  it("is Buffer's, with its pictures", () => {
    const csv =
      'Text,Image URL,Tags,Posting Time\n"Hello, you",https://a.example/1.jpg,news,2027-01-31 09:00\nTwo,"https://a.example/1.jpg, https://a.example/2.jpg",,';
    const { service, rows, columns } = read(csv);
    expect(service).toBe("Buffer");
    expect(rows).toMatchObject([
      {
        line: 2,
        scheduledAt: "2027-01-31 09:00",
        caption: "Hello, you",
        mediaUrl: "https://a.example/1.jpg",
      },
      {
        line: 3,
        caption: "Two",
        mediaUrl: "https://a.example/1.jpg",
        "metadata.moreMedia": '[{"url":"https://a.example/2.jpg"}]',
      },
    ]);
    expect(columns.find(({ field }) => field === "scheduledAt")?.title).toBe("Posting Time");
  });

  it("is Hootsuite's, without a head, and its link stands in the text", () => {
    const { service, rows, warnings } = read(
      "01/31/2027 09:05,Hello,https://example.com/a\n2/1/2027 9:00,Two,\n",
    );
    expect(service).toBe("Hootsuite");
    expect(rows).toEqual([
      { line: 1, scheduledAt: "2027-01-31T09:05", caption: "Hello\nhttps://example.com/a" },
      { line: 2, scheduledAt: "2027-02-01T09:00", caption: "Two" },
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["Date,Message\n31/01/2027 09:00,a\n02/03/2027 09:00,b", ["2027-01-31T09:00", "2027-03-02T09:00"], 0],
    ["Date,Message\n01/02/2027 09:00,a\n02/03/2027 09:00,b", ["2027-01-02T09:00", "2027-02-03T09:00"], 1],
    ["Date,Message\n2027/01/31 09:00,a", ["2027-01-31T09:00"], 0],
    ["Date,Message\n2027-01-31T09:00Z,a", ["2027-01-31T09:00Z"], 0],
  ])("has dates in the form that all of them allow: %j", (csv, times, told) => {
    const { rows, warnings } = read(csv);
    expect(rows.map((row: any) => row.scheduledAt)).toEqual(times);
    expect(warnings).toHaveLength(told);
  });

  it("is a list of Postiz's posts, of which those count that wait there", () => {
    const csv = [
      "id,publishDate,status,content,integration.name,media,group",
      '1,2027-01-31T09:00:00Z,scheduled,Hello,Blog,"[{""path"":""https://a.example/1.jpg""}]",g1',
      "2,2020-01-31T09:00:00Z,published,Old,Blog,,g2",
    ].join("\n");
    const { service, rows, warnings } = read(csv);
    expect(service).toBe("Postiz");
    expect(rows).toEqual([
      {
        line: 2,
        accountId: "Blog",
        scheduledAt: "2027-01-31T09:00:00Z",
        caption: "Hello",
        mediaUrl: "https://a.example/1.jpg",
      },
    ]);
    expect(warnings).toEqual([
      'Left out, as a post has nothing like it: "id", "group".',
      "1 rows do not wait at Postiz any more, and were left out.",
    ]);
  });

  it("is ours where its columns are fields of a post", () => {
    expect(read("accountId,scheduledAt,caption\na,b,c").service).toBeNull();
  });
});
