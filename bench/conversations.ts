import { CONVERSATIONS, playConversation, tokensOf } from "../test/support/conversations.ts";
import { print } from "./support/report.ts";

/**
 * What a model reads: ten conversations as calls over MCP, on a service with ten channels and 200 posts, and the
 * size of each answer. A token is counted as four bytes.
 *
 *   npx tsx bench/conversations.ts
 */
const rows: string[][] = [];
for (const conversation of CONVERSATIONS) {
  const played = await playConversation(conversation);
  const { asked, answers } = played;
  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
  const each = answers.map(({ tool, bytes: size }) => `${tool} ${size}`).join(", ");
  rows.push([asked, String(answers.length), String(bytes), String(tokensOf(played)), each]);
}
print(["asked", "calls", "bytes", "tokens", "answers, in bytes"], rows);
