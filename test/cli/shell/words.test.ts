import { noteTitle } from "../../../src/domain/accounts/platform-titles.ts";
import { Command } from "commander";
import { expect, it } from "vitest";
import * as z from "zod";
import { AppError } from "../../../src/domain/errors.ts";
import { say } from "../../../src/domain/sentences.ts";
import { worded } from "../../../src/toolkit/words.ts";
import { forShell, refusalForShell, shellWordsOf, withOptions } from "../../../src/cli/shell/words.ts";
import { reconnectSentence } from "../../../src/domain/accounts/account.ts";
import { conflictSentence } from "../../../src/domain/posts/post-states.ts";
import { noSlot } from "../../../src/posts/slots.ts";

noteTitle("mastodon", "Mastodon");

const account = {
  id: "acc_1",
  name: "F1",
  provider: "mastodon",
  handle: "@fjord@social.example",
  schedule: null,
};

it.each([
  [
    noSlot(account).said,
    'slot: the channel F1 on Mastodon (@fjord@social.example) has no slots. Set slots with posthorn slots acc_1 "mon,thu 09:30", or give another time.',
  ],
  [
    conflictSentence("edit", { status: "cancelled", published_at: null, updated_at: 0 }),
    "The post is cancelled, but this needs a post that is scheduled. It goes out no more. Only where it is wanted after all, schedule a new one with posthorn post.",
  ],
  [
    conflictSentence("edit", { status: "failed", published_at: null, updated_at: 0 }),
    "The post is failed, but this needs a post that is scheduled. Read it with posthorn show. To mend it, run posthorn retry with what is to be changed (--text, --media, --set, --at). To put it away, run posthorn dismiss.",
  ],
  [
    conflictSentence("edit", { status: "published", published_at: null, updated_at: 0 }),
    "The post is published, but this needs a post that is scheduled. It is live. Change it with posthorn edit. To delete it on the platform, run posthorn cancel with --from-platform.",
  ],
  [
    reconnectSentence({ ...account, handle: null }),
    "The channel F1 on Mastodon must be reconnected first. Run posthorn connect mastodon --account acc_1.",
  ],
  [
    say("Look at it.", { next: [{ do: "settle", postId: null }] }),
    `Look at it. Settle it with posthorn call resolve_post '{"id":"post_1","outcome":"published"}' (or "not_published"), or posthorn dismiss where it is not wanted any more.`,
  ],
  ["Send it a test with: posthorn call test_webhook", "Send it a test with: posthorn call test_webhook"],
])("%s", (said, shown) => expect(forShell(said, "post_1")).toBe(shown));

it("words the strings of an answer by the sentences that stood there", () => {
  const said = reconnectSentence({ ...account, handle: null });
  const { result, sentences } = worded({ warnings: ["Plain.", said] });
  const warnings = z.array(z.string()).parse(result["warnings"]);
  expect(warnings[1]).toContain("connect_channel");
  expect(warnings.map(shellWordsOf(sentences))).toEqual(["Plain.", forShell(said)]);
});

it("names each field of a refusal by its option", () => {
  const command = new Command("post").option("--at <when>").option("--text <text>");
  const error = new AppError("invalid", ["scheduledAt: is in the past.", "caption: is too long."]);
  expect(refusalForShell(error.said, command)).toBe("--at: is in the past. --text: is too long.");
});

it("names the option or argument in which a command was given the field", () => {
  const post = new Command("post")
    .argument("[text]")
    .option("--on <c>")
    .option("--at <w>")
    .option("--alt <t>");
  post.option("--media <f>").option("--set <kv>").option("--title <t>");
  const upload = new Command("upload").argument("<file>");
  const call = new Command("call").argument("<tool>").argument("[json]").option("--json");
  expect(withOptions("accountId: none.\nscheduledAt: over.\nslot: full.", post)).toBe(
    "--on: none.\n--at: over.\n--at: full.",
  );
  expect(withOptions("targets[0].accountId: none.", post)).toBe("--on: none.");
  expect(withOptions("caption: long.", post)).toBe("text: long.");
  expect(withOptions("metadata.title: long.\nmetadata.tags[1]: long.", post)).toBe(
    "--title: long.\n--set tags: long.",
  );
  expect(withOptions("Say which, or give accountId for all rows.", post)).toBe(
    "Say which, or give --on for all rows.",
  );
  expect(withOptions("path: no.", upload)).toBe("file: no.");
  expect(withOptions("arguments: must be an object.", call)).toBe("json: must be an object.");
  expect(withOptions("accountId: none.", call)).toBe("accountId: none.");
});
