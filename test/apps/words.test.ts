import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { fieldsOf } from "../../apps/page/rooms/write/fields.ts";
import { inWords, PAGE_WORDS, sentenceInWords, VIEW_WORDS } from "../../apps/words.ts";
import { type NextStep, type Sentence, sentencesIn } from "../../src/domain/sentences.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { loadFolder } from "../../src/toolkit/load-folder.ts";
import { sentencesOf, SOURCES } from "../support/sentences.ts";

const sentence = (field: string | null, what: string, ...next: NextStep[]): Sentence => ({
  field,
  what,
  next,
});
const RECONNECT = { do: "reconnect", provider: "bluesky", accountId: "acc_1" } as const;

describe("a sentence for people", () => {
  it.each<[Sentence, string]>([
    [
      sentence("metadata.altText", "the picture has no alt text. Add one."),
      "The picture has no alt text. Add one.",
    ],
    [sentence("caption", "is empty."), "The text is empty."],
    [
      sentence("metadata.boardId", "is missing.", { do: "choose", field: "boardId" }),
      "Board is missing. Choose one.",
    ],
    [sentence("targets[1].metadata.link", "must be a list."), "Link must be a list."],
    [sentence("format", "e-mail needs a mail server."), "E-mail needs a mail server."],
    [sentence(null, "outcome unknown: it was on its way."), "outcome unknown: it was on its way."],
    [
      sentence(null, "The channel News on Bluesky must be reconnected first.", RECONNECT),
      "The channel News on Bluesky must be reconnected first. Reconnect it under Channels.",
    ],
    [
      sentence(
        null,
        "It is live.",
        { do: "edit_live", postId: "post_1" },
        { do: "take_down", postId: "post_1" },
      ),
      "It is live. Change it on the platform. To delete it on the platform, take it down.",
    ],
  ])("%j", (said, shown) => expect(sentenceInWords(said, PAGE_WORDS)).toBe(shown));

  it("has its field as subject, and what can be done behind it, also beside others", () => {
    expect(
      inWords([sentence("caption", "is empty."), sentence(null, "It is lost.", RECONNECT)], VIEW_WORDS),
    ).toBe("The text is empty. It is lost. Ask your agent to reconnect it.");
  });
});

const ROOT = join(import.meta.dirname, "../..");
const TOOLS = readdirSync(join(ROOT, "tools")).map((file) => file.replace(/\.ts$/, ""));
const NOT_FOR_PEOPLE = new RegExp(
  [
    `(?<![/.\\w])(?:${TOOLS.join("|")})\\b`,
    "(?<![-/\\w])metadata\\b",
    "\\b(?:image|video|audio)/",
    // Permissions and parts of addresses are called so where a person sets them, and programs that register read the others.
    "(?<![/.@:?\\w-]|permission )(?!grant_type|authorization_code|refresh_token)[a-z]{2,}_[a-z]{2,}",
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
    expect(all.filter((said) => NOT_FOR_PEOPLE.test(said)).length).toBeGreaterThan(80);
    const wrong = all
      .map((said) => ({ said, shown: inWords(sentencesIn(said), PAGE_WORDS) }))
      .filter(({ shown }) => NOT_FOR_PEOPLE.test(shown));
    expect(wrong).toEqual([]);
  });
});

it("each field of a platform has a label and a help in plain words", async () => {
  const platforms = await loadFolder<AnyPlatform>(new URL("../../src/platforms/", import.meta.url));
  const wrong = platforms.flatMap(({ name, metadata }) =>
    fieldsOf(z.toJSONSchema(metadata, { io: "input", unrepresentable: "any" })).flatMap(
      ({ key, label, help, usual }) =>
        [label, help, usual]
          .filter((text) => NOT_FOR_PEOPLE.test(text) || /^(?:True|False)\b|\bLangs\b/.test(text))
          .map((text) => `${name}.${key}: ${text}`),
    ),
  );
  expect(wrong).toEqual([]);
});
