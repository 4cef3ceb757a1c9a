import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { forPeople } from "../../../apps/shared/for-people.ts";
import { agentsWords } from "../../../src/toolkit/words.ts";
import { reconnectSentence } from "../../../src/domain/accounts/account.ts";

const ROOT = join(import.meta.dirname, "../../..");
const TOOLS = readdirSync(join(ROOT, "tools")).map((file) => file.replace(/\.ts$/, ""));
const TOOL = new RegExp(`\\b(?:${TOOLS.join("|")})\\b`);

/** Where the reasons come from that a post can have. */
const AADS = ["src/publishing", "src/platforms", "src/posts", "src/drafts"];

/** Texts of the source that name a tool. */
function sentences(): string[] {
  return AADS.flatMap((place) =>
    readdirSync(join(ROOT, place), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => readFileSync(join(ROOT, place, file), "utf8").match(/(["`])(?:(?!\1).)*\1/g) ?? [])
      .filter((text) => TOOL.test(text) && / /.test(text)),
  );
}

it.each([
  ["Reconnect it with connect_channel, then retry_post.", "Reconnect it, then send it again."],
  ["Change it and call retry_post.", "Change it and send it again."],
  [
    "It is live. To delete it, call cancel_post with fromPlatform.",
    "It is live. To delete it, take it down.",
  ],
  ["Look at it, then settle it with resolve_post.", "Look at it, then tell your agent."],
  [
    'Look at x.com, then call resolve_post with id "post_1" and outcome "published" or "not_published".',
    "Look at x.com, then tell your agent.",
  ],
  [
    reconnectSentence({ name: "News", provider: "bluesky", handle: null, id: "acc_1" }),
    'The channel "News" on bluesky must be reconnected first. Ask your agent to reconnect it.',
  ],
  [
    "The person declined, so nothing was done. Ask them what they want instead. Do not send the call again until they ask for it.",
    "You declined, so nothing was done.",
  ],
  [
    "Not done: to decide about a draft is for a person, and this client cannot ask one. They get a notice.",
    "This application has no way to ask you to confirm it, so nothing was done. Approve it on the command line: posthorn approve.",
  ],
  ["Nothing to change.", "Nothing to change."],
])("%s", (sentence, shown) => expect(forPeople(agentsWords(sentence))).toBe(shown));

it("no reason that the product knows names a tool to a person", () => {
  const all = sentences();
  expect(all.length).toBeGreaterThan(15);
  expect(all.map(forPeople).filter((text) => TOOL.test(text))).toEqual([]);
});

it("leaves out which tools an agent has", () => {
  const sentence =
    "slot: “Blog” has no slots. A person does that, on Posthorn's page or the command line: this key does not have update_account or cancel_post.";
  expect(forPeople(sentence)).toBe("slot: “Blog” has no slots.");
  expect(forPeople("The draft is repeating. To end the series, call decide_draft with stop.")).toBe(
    "The draft is repeating. To end the series, stop it here.",
  );
});
