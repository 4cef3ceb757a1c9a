import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { forPeople, readByField, writeMomentsBy } from "../../../../apps/page/data/for-people.ts";
import { fieldsOf } from "../../../../apps/page/rooms/write/fields.ts";
import type { AnyPlatform } from "../../../../src/ports/platform.ts";
import { loadFolder } from "../../../../src/toolkit/load-folder.ts";
import { sentencesOf, SOURCES } from "../../../support/sentences.ts";

describe("a sentence for agents", () => {
  it.each([
    [
      'The channel "News" on bluesky must be reconnected first. Call connect_channel with provider "bluesky" and accountId "acc_1".',
      'The channel "News" on bluesky must be reconnected first. Reconnect it under Channels.',
    ],
    [
      'Look at the channel "Blog", then settle it with resolve_post.',
      'Look at the channel "Blog", then say here whether it is there.',
    ],
    ['id: there is no draft "dft_1". Take ids from list_drafts.', "There is no such draft."],
    ["metadata.altText: the picture has no alt text. Add one.", "The picture has no alt text. Add one."],
    [
      'slot: "Fjord Bakery" has no slots. Set them with update_account, for example {"accountId":"acc_01","schedule":{"slots":[]}}, or give scheduledAt.',
      '"Fjord Bakery" has no slots. Set them, or give the time.',
    ],
    [
      "metadata.moreMedia: must be at most 3 items long.",
      "At most 4 pictures and videos fit into one post.",
    ],
    [
      "The post post_01m8aaaa9266 with the same account, media, caption and time is waiting already. Cancel one of them if that was not meant.",
      "A post with the same account, media, caption and time is waiting already. Cancel one of them if that was not meant.",
    ],
    ["metadata.tags: must be a list. metadata.link: is required. Give a string.", "Tags is not filled in as it should be. Link is missing. Fill it in."],
    ["metadata.boardId: is missing. Choose a board from list_choices, or name it in metadata.board.", "Board is missing. Choose a board, or name it in board."],
    ["url: it names no topic.", "It names no topic."],
    ["format: e-mail needs a mail server.", "E-mail needs a mail server."],
    ['"foo" is not a known field. The fields of Bluesky are caption, mediaUrl.', '"foo" is not a known field.'],
  ])("%s", (sentence, shown) => {
    expect(forPeople(sentence)).toBe(shown);
    // Some are put into words twice on their way to the page.
    expect(forPeople(shown)).toBe(shown);
  });

  it("writes times as all of the page does, but for those in quotes", () => {
    writeMomentsBy((ms) => `<${new Date(ms).toISOString()}>`);
    expect(
      forPeople(
        'Feed says: "at 2026-11-21T09:05:00.000Z". The next try is on Saturday 21 November 2026, 09:05 (Europe/Berlin).',
      ),
    ).toBe('Feed says: "at 2026-11-21T09:05:00.000Z". The next try is on <2026-11-21T08:05:00.000Z>.');
    expect(forPeople("scheduledAt: 2027-01-16T09:00+01:00 is in the past.")).toBe(
      "<2027-01-16T08:00:00.000Z> is in the past.",
    );
  });

  it.each([
    ["metadata.moreMedia: a post on this server shows either pictures or one video or sound. Leave the rest out or use thread."],
    ["metadata.moreMedia: a post on X shows up to four pictures. Leave the rest out or use metadata.thread."],
  ])("calls a part of a thread as its button does: %s", (sentence) => {
    expect(forPeople(sentence)).toMatch(/Leave the rest out or move it to a thread part\.$/);
  });

  it("keeps what a platform or a person wrote as it is", () => {
    const said = 'Mastodon says: "field accountId {x}: a film, call get_post". Send it again.';
    expect(readByField(said).map(({ text }) => text)).toEqual([
      'Mastodon says: "field accountId {x}: a film, call get_post". Send it again.',
    ]);
    expect(forPeople("Open https://example.com/create_channel?aB=mediaUrl.")).toContain("/create_channel?");
  });
});

const ROOT = join(import.meta.dirname, "../../../..");
const TOOLS = readdirSync(join(ROOT, "tools")).map((file) => file.replace(/\.ts$/, ""));
const NOT_FOR_PEOPLE = new RegExp(
  [
    `(?<![/.\\w])(?:${TOOLS.join("|")})\\b`,
    "metadata\\.",
    "(?<![/.\\w])(?:acc|post|dft|file|con|whk)_",
    // These two a person types into the parameters of links.
    "\\{(?!(?:provider|label)\\})",
    "\\byour agent\\b",
    "(?<![\\w/.@:-])[a-z]{2,}[A-Z][a-z]",
    "items long",
    "\\b(?:boolean|integer|ISO 8601|dryRun)\\b",
    "\\b[Ff]ilms?\\b",
  ].join("|"),
);

describe("every sentence of the source", () => {
  const all = [...new Set(SOURCES.flatMap((name) => sentencesOf(`src/${name}`)))];

  it("is one that a person can follow on the page", () => {
    expect(all.filter((said) => NOT_FOR_PEOPLE.test(said)).length).toBeGreaterThan(150);
    const wrong = all.map((said) => ({ said, shown: forPeople(said) })).filter(({ shown }) => NOT_FOR_PEOPLE.test(shown));
    expect(wrong).toEqual([]);
  });
});

it("each field of a platform has a label and a help in plain words", async () => {
  const platforms = await loadFolder<AnyPlatform>(new URL("../../../../src/platforms/", import.meta.url));
  const wrong = platforms.flatMap(({ name, metadata }) =>
    fieldsOf(z.toJSONSchema(metadata, { io: "input", unrepresentable: "any" })).flatMap(({ key, label, help, usual }) =>
      [label, help, usual].filter((text) => NOT_FOR_PEOPLE.test(text) || /^(?:True|False)\b|\bLangs\b/.test(text)).map((text) => `${name}.${key}: ${text}`),
    ),
  );
  expect(wrong).toEqual([]);
});
