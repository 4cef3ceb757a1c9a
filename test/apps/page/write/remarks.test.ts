import { describe, expect, it } from "vitest";
import { emptyForm, newTarget } from "../../../../apps/page/rooms/write/form.ts";
import {
  changesIn,
  grouped,
  placeOf,
  remarksOf,
  splitByField,
} from "../../../../apps/page/rooms/write/remarks.ts";
import { createZone } from "../../../../apps/shared/zone.ts";

const preview = { count: { length: 0, max: null, unit: "characters" } } as never;

describe("what the server says", () => {
  it("is taken apart by its fields", () => {
    expect(
      splitByField("metadata.link: invalid URL. metadata.tags[0]: must be at least 1 character long."),
    ).toEqual([
      { field: "link", text: "Invalid URL." },
      { field: "tags", text: "Tags must be at least 1 character long." },
    ]);
  });

  it("has a subject, and no words for agents", () => {
    expect(
      splitByField(
        "mediaUrl: is required, as Instagram takes no post without media. Give an https address, or a file from list_files.",
      ),
    ).toEqual([
      {
        field: "media",
        text: "A picture or video is required, as Instagram takes no post without media. Add one.",
      },
    ]);
    const [past] = splitByField(
      "scheduledAt: 2026-11-20T11:00+01:00 is in the past. Give a time in the future.",
    );
    expect(past).toMatchObject({ field: "when", text: expect.stringContaining("or choose Now") });
  });

  it("stays whole where it names no field", () => {
    const sentence = 'The channel "Alpine" on mastodon must be reconnected first. Reason: the token ended.';
    expect(splitByField(sentence)).toEqual([{ field: "channel", text: sentence }]);
  });

  it("belongs to places of media and parts", () => {
    expect(splitByField("metadata.moreMedia[1].url: is too large.")[0]?.field).toBe("media");
    expect(splitByField("metadata.thread[0].caption: is too long.")[0]?.field).toBe("thread");
    expect(splitByField("metadata.altText: is too long.")[0]?.field).toBe("media");
  });
});

describe("a remark", () => {
  const form = {
    ...emptyForm(0, createZone("UTC")),
    targets: [
      newTarget("acc_1"),
      { ...newTarget("acc_2"), caption: "own", media: [], at: "x", metadata: { title: "t" } },
    ],
  };
  const remark = (accountId: string, field: string) => ({ accountId, field, isError: true, text: "" });
  const at = (accountId: string, field: string) => placeOf(remark(accountId, field), form, ["title"]);

  it("stands beside the shared field, or at the channel that differs", () => {
    expect(["caption", "media", "when", "title", "boardId"].map((field) => at("acc_1", field))).toEqual([
      "caption",
      "media",
      "when",
      "title",
      "of acc_1",
    ]);
    for (const field of ["caption", "media", "when", "title"]) expect(at("acc_2", field)).toBe("of acc_2");
    expect(at("acc_gone", "caption")).toBe("nowhere");
  });

  it("of the same words is said once, errors first", () => {
    const remarks = remarksOf([
      { accountId: "acc_1", error: null, warnings: ["metadata.altText: is missing."], preview },
      { accountId: "acc_2", error: "caption: is too long.", warnings: [], preview },
      { accountId: "acc_3", error: "caption: is too long.", warnings: [], preview },
    ]);
    expect(grouped(remarks)).toMatchObject([
      { accountIds: ["acc_2", "acc_3"], isError: true, text: "The text is too long." },
      { accountIds: ["acc_1"], isError: false },
    ]);
  });
});

it("tells a text that is too long, also where the server first names something else", () => {
  const long = { count: { length: 320, max: 300, unit: "graphemes" } } as never;
  const check = { accountId: "acc_1", error: "metadata.link: invalid URL.", warnings: [], preview: long };
  expect(remarksOf([check])).toMatchObject([
    { field: "link" },
    { field: "caption", isError: true, text: "The text is 20 characters too long. Shorten it." },
  ]);
});

it("says in words what others changed", () => {
  const sentence =
    "revision: 3 is not the last one. The draft is at 4, open. Since then: Claude 2.0 changed caption, scheduledAt, slot; Hanna changed targets. Read it with list_drafts, then send 4.";
  expect(changesIn(sentence)).toBe("Claude 2.0 changed the text, the time, and Hanna changed the channels");
  expect(changesIn("The draft is scheduled, so it cannot be changed.")).toBeNull();
});
