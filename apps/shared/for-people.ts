import { TOOL } from "../../src/domain/posts/for-people.ts";

/** Only the application can ask in a way that its model cannot answer. */
const CANNOT_ASK =
  "This application has no way to ask you to confirm it, so nothing was done. Approve it on the command line: posthorn approve.";

/** In this order: what a tool does, in words, and the agent for what this page cannot do. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Not done: [^.]* is for a person, and this client cannot ask one\.[^]*/, CANNOT_ASK],
  [
    / A person does that, on Posthorn's page or the command line: this (?:assistant|key) does not have [a-z_ ]+\./g,
    "",
  ],
  [
    /^The person (declined|closed the question without an answer), so nothing was done\.[^]*/,
    "You $1, so nothing was done.",
  ],
  [/\bCall connect_channel with provider "[^"]*" and accountId "[^"]*"/g, "Ask your agent to reconnect it"],
  [/\bcall cancel_post with fromPlatform/g, "take it down"],
  [/\bcall decide_draft with stop/g, "stop it here"],
  [/ with cancel_post and fromPlatform/g, ""],
  [/\bcall resolve_post with outcome dismissed/g, 'choose "Dismiss"'],
  [/ with what is to be changed \([^()]*\)/g, " with changes"],
  [/, or "dismissed" where it is not wanted any more/g, ""],
  [/\bcall resolve_post with id "[^".]*" and outcome "published" or "not_published"/g, "tell your agent"],
  [/\bsettle it with resolve_post/g, "tell your agent"],
  [new RegExp(` with ${TOOL}`, "g"), ""],
  [/\b(?:call )?retry_post\b/g, "send it again"],
  [new RegExp(`\\b[Cc]all ${TOOL}`, "g"), "ask your agent"],
  [new RegExp(`(?<![/.\\w])${TOOL}`, "g"), "your agent"],
];

/** A refusal is written for agents and may name tools. A person reads it here, beside buttons. */
export function forPeople(sentence: string): string {
  return WORDS.reduce((text, [pattern, words]) => text.replace(pattern, words), sentence);
}
