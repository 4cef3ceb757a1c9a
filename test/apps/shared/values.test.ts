import { describe, expect, it, onTestFinished } from "vitest";
import { withValues, writeTimesBy } from "../../../apps/shared/values.ts";
import { nextTryOf } from "../../../apps/shared/statuses.ts";
import { describeSeries, lateStart } from "../../../src/domain/drafts/tell-series.ts";
import { describeTry } from "../../../src/domain/time.ts";
import { nameOfField } from "../../../src/domain/posts/for-people.ts";

describe("the values of a sentence, as people know them", () => {
  it.each([
    ["Shorten it, or go on in metadata.thread.", "Shorten it, or go on in a thread part."],
    [
      "X shows it only in front of a video. Give a video in mediaUrl.",
      "X shows it only in front of a video. Give a video in a picture or video.",
    ],
    [
      "a paid partnership cannot be SELF_ONLY on TikTok.",
      "a paid partnership cannot be “Self only” on TikTok.",
    ],
    ["has no preview with linkPreview false.", "has no preview with link preview off."],
    ["Pixelfed shows it only with sensitive: true.", "Pixelfed shows it only with sensitive on."],
    [
      "The picture will be re-encoded from image/heic as image/jpeg.",
      "The picture will be re-encoded from HEIC as JPEG.",
    ],
    ["It takes video/mp4 and video/quicktime, no image/webp.", "It takes MP4 and MOV, no WebP."],
    ["Give the text, metadata, or both.", "Give the text, other fields, or both."],
    ["Set POSTHORN_PUBLIC_URL there.", "Set POSTHORN_PUBLIC_URL there."],
  ])("%s", (sentence, shown) => {
    expect(withValues(sentence)).toBe(shown);
    // What a person has read once stays as it is.
    expect(withValues(shown)).toBe(shown);
  });

  it("are times as all of the page writes them, but for those in quotes", () => {
    const sentence =
      'Feed says: "at 2026-11-21T09:05:00.000Z". The next try is on Saturday 21 November 2026, 09:05 (Europe/Berlin).';
    expect(withValues(sentence)).toBe(sentence);
    onTestFinished(() => writeTimesBy(null));
    writeTimesBy({
      moment: (ms) => `<${new Date(ms).toISOString()}>`,
      clock: (time) => `<${time}>`,
      day: (day) => `<${day}>`,
    });
    expect(withValues(sentence)).toBe(
      'Feed says: "at 2026-11-21T09:05:00.000Z". The next try is on <2026-11-21T08:05:00.000Z>.',
    );
    expect(withValues("2027-01-16T09:00+01:00 is in the past.")).toBe(
      "<2027-01-16T08:00:00.000Z> is in the past.",
    );
    const now = Date.parse("2026-11-28T00:35:50Z");
    const soon = `It is tried again on ${describeTry(now + 50_000, { now, timezone: "UTC" })}.`;
    expect(withValues(soon)).toBe("It is tried again on <2026-11-28T00:36:00.000Z>.");
    expect(nextTryOf({ error: soon })).toBe(Date.parse("2026-11-28T00:36:00Z"));
    const series = {
      every: 1,
      unit: "week",
      days: ["sun"],
      time: "09:00",
      timezone: "UTC",
      from: "2020-01-01",
    } as const;
    expect(withValues(describeSeries({ ...series, until: "2027-02-28" }, null))).toBe(
      "Every week on Sun at <09:00> (UTC), from <2020-01-01> until <2027-02-28>",
    );
    const late = lateStart({ ...series, until: "2027-02-28" }, "2020-01-05");
    expect(withValues(describeSeries({ ...series, until: "2027-02-28" }, late))).toBe(
      "Every week on Sun at <09:00> (UTC), from <2020-01-12>, because <09:00> of <2020-01-05> is over, until <2027-02-28>",
    );
  });

  it("leave what a platform or a person wrote as it is, and addresses", () => {
    for (const said of [
      'Mastodon says: "field accountId {x}: a film, call get_post". Send it again.',
      "Open https://example.com/create_channel?aB=mediaUrl.",
      "“mediaUrl” is the name of the channel.",
    ])
      expect(withValues(said)).toBe(said);
  });
});

it("a field has one name, wherever it stands", () => {
  const paths = [
    "metadata.boardId",
    "targets[0].metadata.boardId",
    "posts[3].caption",
    "metadata.thread[0].caption",
    "repeat.texts[2]",
    "metadata.poll.options[1]",
    "metadata.poll.options",
  ];
  expect(paths.map(nameOfField)).toEqual([
    ...["board", "board", "the text", "a thread part"],
    ...["text 3", "answer 2", "the answers of the poll"],
  ]);
});
