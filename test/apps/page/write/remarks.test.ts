import { describe, expect, it } from "vitest";
import { keepBehind } from "../../../../apps/shared/sentences.ts";
import type { Sentence } from "../../../../src/domain/sentences.ts";
import { emptyForm, newTarget } from "../../../../apps/page/rooms/write/form.ts";
import {
  changesIn,
  grouped,
  placeOf,
  remarksOf,
  splitByField,
  failuresInWords,
  withoutReason,
  withoutTyped,
} from "../../../../apps/page/rooms/write/remarks.ts";
import { createZone } from "../../../../apps/shared/zone.ts";

const said = (field: string | null, what: string): Sentence => ({ field, what, next: [] });
const preview = { count: { length: 0, max: null, unit: "characters" } } as never;

describe("what the server says", () => {
  it("is taken apart by its fields", () => {
    expect(
      splitByField([
        said("metadata.link", "invalid URL."),
        said("metadata.tags[0]", "must be at least 1 character long."),
      ]),
    ).toEqual([
      { field: "link", text: "Invalid URL." },
      { field: "tags", text: "Tags must be at least 1 character long." },
    ]);
  });

  it("has a subject, and what a person can do", () => {
    const none = said("mediaUrl", "is required, as Instagram takes no post without media.");
    const past = said("scheduledAt", "2026-11-20T11:00+01:00 is in the past.");
    expect(
      splitByField([
        { ...none, next: [{ do: "add_media" }] },
        { ...past, next: [{ do: "give_time", isFuture: true }] },
      ]),
    ).toEqual([
      {
        field: "media",
        text: "A picture or video is required, as Instagram takes no post without media. Add one.",
      },
      { field: "when", text: expect.stringContaining("or choose Now") },
    ]);
  });

  it("stays whole where it names no field", () => {
    const sentence = "The channel Alpine on Mastodon must be reconnected first. Reason: the token ended.";
    expect(splitByField([said(null, sentence)])).toEqual([{ field: "channel", text: sentence }]);
  });

  it("belongs to places of media and parts", () => {
    expect(splitByField([said("metadata.moreMedia[1].url", "is too large.")])[0]?.field).toBe("media");
    expect(splitByField([said("metadata.thread[0].caption", "is too long.")])[0]?.field).toBe("thread");
    expect(splitByField([said("metadata.altText", "is too long.")])[0]?.field).toBe("media");
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
    const checkOf = (accountId: string, error: Sentence | null, warnings: readonly Sentence[] = []) => {
      const check = { accountId, error: error && "told", warnings: warnings.map(() => "told"), preview };
      if (error !== null) keepBehind(check, "error", [error]);
      warnings.forEach((one, at) => keepBehind(check.warnings, String(at), [one]));
      return check;
    };
    const remarks = remarksOf([
      checkOf("acc_1", null, [said("metadata.altText", "is missing.")]),
      checkOf("acc_2", said("caption", "is too long.")),
      checkOf("acc_3", said("caption", "is too long.")),
    ]);
    expect(grouped(remarks)).toMatchObject([
      { accountIds: ["acc_2", "acc_3"], isError: true, text: "The text is too long." },
      { accountIds: ["acc_1"], isError: false },
    ]);
  });
});

it("tells a text that is too long, also where the server first names something else", () => {
  const long = { count: { length: 320, max: 300, unit: "graphemes" } } as never;
  const check = { accountId: "acc_1", error: "Invalid URL.", warnings: [], preview: long };
  keepBehind(check, "error", [said("metadata.link", "invalid URL.")]);
  expect(remarksOf([check])).toMatchObject([
    { field: "link" },
    { field: "caption", isError: true, text: "The text is 20 characters too long. Shorten it." },
  ]);
});

it("says in words what others changed", () => {
  const what =
    "3 is not the last one. The draft is at 4, open. Since then: Claude 2.0 changed caption, scheduledAt, slot; St. Ives changed targets.";
  const stale: Sentence = { field: "revision", what, next: [{ do: "read_draft", revision: 4 }] };
  expect(changesIn([stale], "Anna")).toBe(
    "In the meantime Claude 2.0 changed the text, the time, and St. Ives changed the channels.",
  );
  expect(changesIn([said(null, "The draft is scheduled, so it cannot be changed.")], "Anna")).toBeNull();
  const own = { ...stale, what: "Since then: Anna changed caption; Anna changed scheduledAt." };
  expect(changesIn([own], "Anna")).toBe("It was changed in another window: the text, the time.");
});

describe("what keeps a post from going out", () => {
  const check = (accountId: string, ...said: Sentence[]): never => {
    const one = { accountId, error: "wrong", warnings: [], preview };
    keepBehind(one, "error", said);
    return one as never;
  };
  const form = { ...emptyForm(0, createZone("UTC")), targets: [newTarget("fjord"), newTarget("fjordtwo")] };
  const tell = (failing: readonly never[], slotless: readonly string[] = []): string =>
    failuresInWords(failing, { form, shared: [], slotless }, (id) => id);
  const noSlots = said("slot", "the channel has no slots.");

  it("is looked for in red only where it stands in red", () => {
    const red = "It is said in red where it belongs.";
    const one = check("fjordtwo", said("caption", "is too long."));
    expect(tell([one])).toBe(`Not yet: there is something to mend for fjordtwo. ${red}`);
    expect(tell([one, check("fjord", noSlots)])).toBe(
      `Not yet: there is something to mend for 2 channels. ${red}`,
    );
  });

  it("is said itself where slots are wanted, which stands beside no field", () => {
    expect(tell([check("fjordtwo", noSlots)], ["fjordtwo"])).toBe(
      "fjordtwo has no slots yet. Set its times, or choose another time.",
    );
    expect(tell([check("fjord", noSlots), check("fjordtwo", noSlots)], ["fjord", "fjordtwo"])).toBe(
      "fjord and fjordtwo have no slots yet. Set their times, or choose another time.",
    );
  });

  it("is said itself where no part shows it", () => {
    expect(tell([check("gone", said(null, "It is paused."))])).toBe("Not yet: gone: It is paused.");
  });
});

it("says why a post failed once, and what is wrong with it now in any case", () => {
  const warned = { accountId: "acc_1", isError: false, field: "channel" };
  const remarks = [
    { ...warned, text: "It is sent just as it was, at once. It failed before:" },
    { ...warned, text: "Duplicate of words." },
    { ...warned, isError: true, text: "Duplicate of words." },
  ];
  const said = ["It is sent just as it was, at once.", "Duplicate of words."];
  expect(withoutReason(remarks, "Duplicate of words.").map(({ text }) => text)).toEqual(said);
  expect(withoutReason(remarks, null)).toEqual(remarks);
});

it("asks for no alt text that is typed by now", () => {
  const warnings = ["words of the face", "other words"];
  keepBehind(warnings, "0", [said("metadata.moreMedia[0].altText", "picture 2 of 2 has no alt text.")]);
  keepBehind(warnings, "1", [said("mediaUrl", "is large.")]);
  const remarks = remarksOf([{ accountId: "a", error: null, warnings, preview }]);
  const empty = { ...emptyForm(0, createZone("UTC")), targets: [newTarget("a")] };
  const withTexts = (...texts: readonly string[]) => ({
    ...empty,
    media: texts.map((altText, at) => ({ key: String(at), url: `https://a.example/${at}.png`, altText })),
  });
  expect(withoutTyped(remarks, withTexts("A bun", ""))).toHaveLength(2);
  expect(withoutTyped(remarks, withTexts("A bun", "A cup")).map(({ text }) => text)).toEqual([
    expect.stringContaining("large"),
  ]);
});
