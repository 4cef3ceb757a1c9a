import { expect, it } from "vitest";
import { suggestField } from "../../../src/domain/arguments/coerce.ts";

const KNOWN = ["accountId", "scheduledAt", "mediaUrl", "caption", "metadata", "dryRun"];

it.each([
  ["altText", "metadata.altText"],
  ["alt_text", "metadata.altText"],
  ["text", "caption"],
  ["media", "mediaUrl"],
  ["media_url", "mediaUrl"],
  ["time", "scheduledAt"],
  ["date", "scheduledAt"],
  ["dry_run", "dryRun"],
  ["captoin", "caption"],
  ["colour", null],
])("the field %s is probably meant for %s", (given, place) => {
  expect(suggestField(given, KNOWN)).toBe(place);
});

it("is never one that is not there", () => {
  expect(["text", "altText", "time"].map((name) => suggestField(name, ["id"]))).toEqual([null, null, null]);
});

it("is the day where posts are moved to one", () => {
  const known = ["ids", "from", "to", "shiftMinutes", "toDay"];
  expect(["scheduledAt", "day"].map((name) => suggestField(name, known))).toEqual(["toDay", "toDay"]);
});
