import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { inWords, PAGE_WORDS, VIEW_WORDS } from "../../apps/words.ts";
import { type Command, type ListName, type NextStep, say } from "../../src/domain/sentences.ts";
import { forShell } from "../../src/cli/shell/words.ts";
import { agentsWords } from "../../src/toolkit/words.ts";

/* What can be done is data, and each face has its own words for it: no sentence names a tool or a command by itself. */

const ROOT = join(import.meta.dirname, "../..");
const TOOLS = readdirSync(join(ROOT, "tools")).map((file) => file.replace(/\.ts$/, ""));
const TOOL = new RegExp(`\\b(?:${TOOLS.join("|")})\\b`);
const COMMAND = /\bposthorn [a-z]+/;

/** Faces, and what only a person at a terminal reads, or (the last four) only a person's phone, a model or who sets an app. */
const OF_FACES =
  /^(?:cli|mcp|toolkit|app|reporting\/export\.ts|main\.ts|http|store\/(?:local|moving|sqlite|postgres)|reporting\/webhooks\/notices\.ts|domain\/drafts\/notes-for-models\.ts|channels\/platform-io\/set-up\.ts|channels\/connecting\/oauth-requests\.ts)/;

const id = "post_1";
const LISTED = [
  "accounts",
  "posts",
  "drafts",
  "files",
  "webhooks",
  "platforms",
  "connections",
  "choices",
] as const satisfies readonly ListName[];
const COMMANDS = [
  "open",
  "make_key",
  "doctor",
  "setup",
  "restore",
  "serve",
  "move_database",
] as const satisfies readonly Command[];

/** Every step in every form: a new one without an example is a compile error. */
const STEPS: { readonly [Do in NextStep["do"]]: readonly Extract<NextStep, { do: Do }>[] } = {
  list: LISTED.map((of) => ({ do: "list", of })),
  see: LISTED.map((of) => ({ do: "see", of })),
  reconnect: [{ do: "reconnect", provider: "bluesky", accountId: "acc_1" }],
  connect_again: [{ do: "connect_again" }],
  check_connection: [{ do: "check_connection", connectId: "con_1" }],
  look: [
    { do: "look", postId: id },
    { do: "look", postId: null },
  ],
  look_later: [{ do: "look_later", postId: id }],
  pause: [{ do: "pause" }],
  see_each: [{ do: "see_each" }],
  stop_if_not_meant: [{ do: "stop_if_not_meant" }],
  approve_drafts: [{ do: "approve_drafts" }],
  look_at_each: [{ do: "look_at_each", postIds: [id] }],
  read: [{ do: "read", postId: id }],
  edit: [{ do: "edit", postId: id }],
  edit_live: [{ do: "edit_live", postId: id }],
  cancel: [{ do: "cancel", postId: id }],
  take_down: [{ do: "take_down", postId: id }],
  move: [{ do: "move", postId: id }],
  retry: [
    { do: "retry", postId: id, changed: true },
    { do: "retry", postId: id, changed: false },
  ],
  send_again: [{ do: "send_again", postIds: [id] }],
  read_insights: [{ do: "read_insights" }],
  settle: [
    { do: "settle", postId: id },
    { do: "settle", postId: null },
  ],
  dismiss: [{ do: "dismiss", postId: id }],
  schedule: [{ do: "schedule" }],
  choose: [{ do: "choose", field: "boardId" }],
  set_slots: [{ do: "set_slots", accountId: null }],
  draft: [{ do: "draft", takes: "repeat" }],
  read_draft: [{ do: "read_draft", revision: 2 }],
  move_draft: [{ do: "move_draft" }],
  discard_draft: [{ do: "discard_draft" }],
  end_series: [{ do: "end_series" }],
  stop_series: [{ do: "stop_series", draftIds: ["dft_1"] }],
  change_posts_of_draft: [{ do: "change_posts_of_draft" }],
  upload: [{ do: "upload" }],
  upload_local: [{ do: "upload_local" }],
  test_webhook: [{ do: "test_webhook" }],
  give: [{ do: "give", what: "a string (title)" }],
  use_fields: [
    { do: "use_fields", of: "Bluesky", known: ["mediaUrl"] },
    { do: "use_fields", of: null, known: [] },
  ],
  give_time: [
    { do: "give_time", isFuture: true },
    { do: "give_time", isFuture: false },
  ],
  add_media: [{ do: "add_media" }],
  ask_person: [
    { do: "ask_person", tool: "schedule_post", wasAsked: true, orDraft: true },
    { do: "ask_person", tool: "schedule_post", wasAsked: false, orDraft: true },
  ],
  decide_as_person: [
    { do: "decide_as_person", tool: "schedule_post" },
    { do: "decide_as_person", tool: null },
  ],
  stay_in_role: [
    { do: "stay_in_role", way: "planned", only: null },
    { do: "stay_in_role", way: "draft", only: ["change_posts", "takes dryRun"] },
  ],
  leave_to_person: [{ do: "leave_to_person", who: "key", lacks: ["retry_post"] }],
  run: COMMANDS.map((command) => ({ do: "run", command, of: null })),
};

const FACES = { agents: agentsWords, shell: forShell } as const;

describe.each(Object.entries(FACES))("the words for %s", (face, inWords) => {
  it.each(Object.values(STEPS).flat())("have a sentence for %o", (step) => {
    const told = inWords(say("", { next: [step] }));
    // At a shell the person is there already.
    if (face === "shell" && ["leave_to_person", "ask_person", "stay_in_role"].includes(step.do))
      expect(told).toBe("");
    else expect(told).toMatch(/^\S.*\.$/);
    // There a tool that has no command of its own is typed behind `posthorn call`.
    if (face === "shell") expect(told.replaceAll(/posthorn call \w+/g, "")).not.toMatch(TOOL);
  });
});

const PEOPLE = { "on the page": PAGE_WORDS, "in a view within an agent": VIEW_WORDS } as const;

describe.each(Object.entries(PEOPLE))("the words for people %s", (place, words) => {
  it.each(Object.values(STEPS).flat())("are a sentence, or left to a button, for %o", (step) => {
    const told = inWords([{ field: null, what: "It is so.", next: [step] }], words);
    expect(told).toMatch(/^It is so\.(?: [A-Z][^{}]*\.)?$/);
    // A call that only a person may make is typed.
    expect(told.replaceAll(/posthorn call \w+/g, "")).not.toMatch(TOOL);
    expect(told).not.toMatch(/\b(?:acc|post|con)_/);
    if (place === "on the page") expect(told).not.toContain("your agent");
  });
});

interface Text {
  readonly file: string;
  readonly text: string;
}

/** The texts of a file that people or agents may read: of several words, and of no schema's description. */
function textsIn(file: string): Text[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(ROOT, "src", file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: Text[] = [];
  const walk = (node: ts.Node): void => {
    // Of `schema.describe("…")` only the schema.
    if (isDescribe(node)) return walk(node.expression.expression);
    if (ts.isPropertyAssignment(node) && /^(?:description|summary)$/.test(node.name.getText())) return;
    const isText =
      ts.isStringLiteral(node) ||
      ts.isNoSubstitutionTemplateLiteral(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node);
    if (isText && / /.test(node.text.trim())) found.push({ file, text: node.text });
    ts.forEachChild(node, walk);
  };
  walk(source);
  return found;
}

function isDescribe(
  node: ts.Node,
): node is ts.CallExpression & { readonly expression: ts.PropertyAccessExpression } {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "describe"
  );
}

it("no sentence of the product names a tool or a command: a step does", () => {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !OF_FACES.test(file),
  );
  const texts = files.flatMap(textsIn);
  expect(texts.length).toBeGreaterThan(2_000);
  expect(texts.filter(({ text }) => TOOL.test(text) || COMMAND.test(text))).toEqual([]);
});
