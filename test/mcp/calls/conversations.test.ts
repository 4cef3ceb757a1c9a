import { expect, it } from "vitest";
import { CONVERSATIONS, playConversation, tokensOf } from "../../support/conversations.ts";

const MAX_CALLS = 6;
const MAX_TOKENS = 4_000;

it.each(CONVERSATIONS)("needs few calls and short answers: $asked", async (conversation) => {
  const played = await playConversation(conversation);
  expect(played.answers.filter(({ isError }) => isError)).toEqual([]);
  expect(played.answers.length).toBeLessThanOrEqual(MAX_CALLS);
  expect(tokensOf(played)).toBeLessThanOrEqual(MAX_TOKENS);
});
