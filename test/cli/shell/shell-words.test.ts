import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, it } from "vitest";
import { forShell, withOptions } from "../../../src/cli/shell/shell-words.ts";
import { reconnectSentence } from "../../../src/domain/accounts/account.ts";
import { conflictSentence } from "../../../src/domain/posts/post-states.ts";
import { noSlot } from "../../../src/posts/slots.ts";

const ROOT = join(import.meta.dirname, "../../..");
const TOOLS = readdirSync(join(ROOT, "tools")).map((file) => file.replace(/\.ts$/, ""));
const TOOL = new RegExp(`(?<!posthorn call )\\b(?:${TOOLS.join("|")})\\b`);
/** Rooms whose sentences come to a shell. */
const ROOMS = [
  "accounts",
  "connecting",
  "domain",
  "drafts",
  "files",
  "imports",
  "operations",
  "platforms",
  "posts",
  "publishing",
  "results",
  "store",
  "webhooks",
];

function sentences(): string[] {
  return ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, "src", room), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap(
        (file) => readFileSync(join(ROOT, "src", room, file), "utf8").match(/(["`])(?:(?!\1).)*\1/g) ?? [],
      )
      .filter((text) => TOOL.test(text) && / /.test(text)),
  );
}

const account = {
  id: "acc_1",
  name: "F1",
  provider: "mastodon",
  handle: "@fjord@social.example",
  schedule: null,
};

it.each([
  [
    noSlot(account).message,
    'slot: the channel "F1" on mastodon (@fjord@social.example) has no slots. Set them with posthorn slots @fjord@social.example "mon,thu 09:30", or another time.',
  ],
  [
    noSlot({ ...account, name: "My feed", handle: null }).message,
    'slot: the channel "My feed" on mastodon has no slots. Set them with posthorn slots "My feed" "mon,thu 09:30", or another time.',
  ],
  [
    conflictSentence("edit", { status: "cancelled", published_at: null, updated_at: 0 }),
    "The post is cancelled, but this needs a post that is scheduled. It goes out no more. Only where it is wanted after all, schedule a new one with posthorn post.",
  ],
  [
    conflictSentence("edit", { status: "failed", published_at: null, updated_at: 0 }),
    "The post is failed, but this needs a post that is scheduled. Read its error with posthorn show. To mend it, run posthorn retry with what is to be changed (--text, --media, --set, --at). To put it away, run posthorn dismiss.",
  ],
  [
    conflictSentence("edit", { status: "published", published_at: null, updated_at: 0 }),
    "The post is published, but this needs a post that is scheduled. It is live. Change it with posthorn edit. To delete it on the platform, run posthorn cancel with --from-platform.",
  ],
  [
    reconnectSentence({ ...account, handle: null }),
    'The channel "F1" on mastodon must be reconnected first. Run posthorn connect mastodon --account acc_1.',
  ],
  [
    "Look at it, then settle it with resolve_post.",
    `Look at it, then settle it with posthorn call resolve_post '{"id":"post_1","outcome":"published"}' (or "not_published").`,
  ],
  [
    'Look at x, then call resolve_post with id "post_2" and outcome "published" or "not_published", or "dismissed" where it is not wanted any more.',
    `Look at x, then run posthorn call resolve_post '{"id":"post_2","outcome":"published"}' (or "not_published"), or posthorn dismiss where it is not wanted any more.`,
  ],
  ["Call connect_channel again for a new address.", "Run posthorn connect again for a new address."],
  ["Send it a test with: posthorn call test_webhook", "Send it a test with: posthorn call test_webhook"],
])("%s", (sentence, shown) => expect(forShell(sentence, "post_1")).toBe(shown));

it("no sentence that comes to a shell names a tool that cannot be typed there", () => {
  const all = sentences();
  expect(all.length).toBeGreaterThan(25);
  expect(all.map((text) => forShell(text)).filter((text) => TOOL.test(text))).toEqual([]);
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
