import { expect, it } from "vitest";
import { changedInWords } from "../../../../apps/shared/changed-fields.ts";
import {
  argsOf,
  besides,
  clashesOf,
  differencesOf,
  fieldsOf,
  withFields,
} from "../../../../apps/page/rooms/write/post-content.ts";

const POST = {
  caption: "Hi",
  mediaUrl: "file_1",
  metadata: { altText: "A dog", title: "T" },
  scheduledAt: "2026-12-24T17:00:00.000Z",
} as never;
const BEFORE = fieldsOf(POST);

it("tells what differs, field by field", () => {
  expect(differencesOf(BEFORE, BEFORE)).toEqual({});
  expect(differencesOf(BEFORE, { ...BEFORE, caption: "Ho" })).toEqual({ caption: "Ho" });
  const { "metadata.title": _title, ...untitled } = BEFORE;
  expect(differencesOf(BEFORE, untitled)).toEqual({ "metadata.title": null });
  // A time that is not whole yet is no change.
  const { scheduledAt: _at, ...timeless } = BEFORE;
  expect(differencesOf(BEFORE, timeless)).toEqual({});
});

it("lets what a picture shows go with the picture", () => {
  const other = { ...BEFORE, mediaUrl: "file_2" };
  expect(differencesOf(BEFORE, other)).toEqual({ mediaUrl: "file_2", "metadata.altText": "A dog" });
  const described = { ...BEFORE, "metadata.altText": "Two dogs" };
  expect(clashesOf(differencesOf(BEFORE, other), differencesOf(BEFORE, described))).toEqual([
    "metadata.altText",
  ]);
});

it("finds what both changed, and not alike", () => {
  expect(clashesOf({ caption: "Mine" }, { scheduledAt: "then" })).toEqual([]);
  expect(clashesOf({ caption: "Same" }, { caption: "Same" })).toEqual([]);
  expect(clashesOf({ caption: "Mine" }, { caption: "Theirs" })).toEqual(["caption"]);
});

it("sends no more than that, and takes nothing away that is not there", () => {
  expect(argsOf({ caption: "Ho", "metadata.title": null, "metadata.link": null }, POST)).toEqual({
    caption: "Ho",
    metadata: { title: null },
  });
  expect(withFields(POST, { "metadata.title": null, caption: "Ho" })).toMatchObject({
    caption: "Ho",
    mediaUrl: "file_1",
    metadata: { altText: "A dog" },
  });
});

it("says what clashes", () => {
  const when = (): string => "tomorrow";
  expect(changedInWords(["caption"], POST, when)).toBe("Changed meanwhile: the text. The text is now “Hi”.");
  expect(changedInWords(["scheduledAt", "metadata.moreMedia"], POST, when)).toBe(
    "Changed meanwhile: the time, the pictures. The time is now tomorrow.",
  );
});

it("takes the other one only of what is asked about", () => {
  const mine = { caption: "Mine", scheduledAt: "then", "metadata.title": "Mine", "metadata.link": "mine" };
  expect(besides(mine, ["scheduledAt"])).toEqual({
    caption: "Mine",
    "metadata.title": "Mine",
    "metadata.link": "mine",
  });
  expect(besides(mine, ["metadata.link"])).toEqual({
    caption: "Mine",
    scheduledAt: "then",
    "metadata.title": "Mine",
  });
  // Pictures go together, each with its text.
  const pictures = { mediaUrl: "mine", "metadata.altText": "Mine" };
  expect(besides({ ...pictures, caption: "Mine" }, ["metadata.moreMedia"])).toEqual({ caption: "Mine" });
  expect(besides({ "metadata.altText": "Mine" }, ["metadata.moreMedia"])).toEqual({
    "metadata.altText": "Mine",
  });
});
