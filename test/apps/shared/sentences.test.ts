import { describe, expect, it } from "vitest";
import { keepBehind, readSentences, sentencesBehind, wordAnswer } from "../../../apps/shared/sentences.ts";
import { PAGE_WORDS, VIEW_WORDS } from "../../../apps/words.ts";

const lost = {
  field: null,
  what: "The channel must be reconnected first.",
  next: [{ do: "reconnect", provider: "x", accountId: "acc_1" }],
};
const empty = { field: "caption", what: "is empty.", next: [] };

describe("an answer with sentences", () => {
  const answer = () => ({
    posts: [{ error: "for agents" }],
    warnings: ["for agents"],
    "a/b": { error: "for agents" },
  });

  it("has people's words in their places", () => {
    const told = answer();
    wordAnswer(
      told,
      { "/posts/0/error": [lost, empty], "/warnings/0": [empty], "/a~1b/error": [lost] },
      PAGE_WORDS,
    );
    expect(told).toEqual({
      posts: [
        { error: "The channel must be reconnected first. Reconnect it under Channels. The text is empty." },
      ],
      warnings: ["The text is empty."],
      "a/b": { error: "The channel must be reconnected first. Reconnect it under Channels." },
    });
    expect(sentencesBehind(told.posts[0] ?? {}, "error")).toEqual([lost, empty]);
    expect(sentencesBehind(told.warnings, 0)).toEqual([empty]);
  });

  it("has those of a view within an agent there", () => {
    const told = answer();
    wordAnswer(told, { "/posts/0/error": [lost] }, VIEW_WORDS);
    expect(told.posts[0]?.error).toBe(
      "The channel must be reconnected first. Ask your agent to reconnect it.",
    );
  });

  it("stays as it is where it names no text, or nothing is said", () => {
    const told = answer();
    for (const sentences of [
      undefined,
      null,
      [],
      { "/posts": [lost] },
      { "/posts/9/error": [lost] },
      { "/warnings/0": "x" },
    ])
      wordAnswer(told, sentences, PAGE_WORDS);
    expect(told).toEqual(answer());
  });
});

it("what is no step that the page knows is left out of a sentence", () => {
  const next = [{ do: "teleport" }, { do: "constructor" }, null, "retry", ...lost.next];
  expect(readSentences([{ ...lost, next }, 3])).toEqual([lost]);
  expect(readSentences([{}])).toEqual([{ field: null, what: "", next: [] }]);
});

it("a text without sentences is one by itself, and kept ones are found by what holds them", () => {
  expect(sentencesBehind({ error: "Gone." }, "error")).toEqual([{ field: null, what: "Gone.", next: [] }]);
  expect(sentencesBehind({ error: null }, "error")).toEqual([]);
  const check = { error: "The text is empty." };
  keepBehind(check, "error", readSentences([empty]));
  expect(sentencesBehind(check, "error")).toEqual([empty]);
});
