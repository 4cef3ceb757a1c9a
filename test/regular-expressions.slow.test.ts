import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check } from "recheck";
import ts from "typescript";
import { beforeAll, expect, it, vi } from "vitest";

/*
 * What others write runs into our expressions. One that begins anew at each sign of a text, and runs to its
 * end each time, takes minutes for a text of 1 MB, and nothing else of the process goes on meanwhile.
 */

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const AT_START = "begins at the start only, and has one part without an end";
const NONE_WITHIN = "what it runs over holds nothing that it begins at";

const TRIED =
  "lists of all endings of names are too much for the checker; the time on long texts is tried in twitter-text.test.ts";

/** What the checker cannot tell (it knows no looking ahead or behind), or not soon, or is not linear: why each is harmless. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "apps/shared/values.ts /": "our own sentences of 2,000 characters",
  "src/domain/text/compare-words.ts /(?<word>": NONE_WITHIN,
  "src/domain/sentences.ts /^((?:[a-z]": AT_START,
  "src/domain/arguments/meant-times.ts /^(?<one>": AT_START,
  "src/domain/arguments/meant-times.ts /^(?<year>": AT_START,
  "src/domain/parse-time.ts / ?([zZ]|[+-]": "a time has 200 characters at the most",
  "src/domain/posts/for-people.ts /": "our own sentences of 2,000 characters",
  "src/posts/post-in-words.ts /(?<!": "our own sentences of 2,000 characters",
  "src/http/openapi/openapi-operations.ts / ?Example: ": "the descriptions of our own tools",
  "src/mcp/instructions.ts /[a-z]+": "our own instructions of 2,000 characters",
  "src/media/probe/other-kinds.ts /^\\s*(?:<": AT_START,
  "src/media/source/copies.ts /^([a-z0-9]": AT_START,
  "src/platforms/bluesky/index.ts /^[a-z0-9]([": AT_START,
  "src/platforms/bluesky/metadata.ts /(?<!": NONE_WITHIN,
  "src/platforms/dailymotion/metadata.ts /&(": NONE_WITHIN,
  "src/platforms/devto/metadata.ts /(\\bhttps": NONE_WITHIN,
  "src/platforms/google_business/metadata.ts /(?:\\+": "runs over 40 signs at the most",
  "src/platforms/lemmy/metadata.ts /^(?:!?": AT_START,
  "src/platforms/lemmy/metadata.ts /(https?": NONE_WITHIN,
  "src/platforms/misskey/metadata.ts /(https?": NONE_WITHIN,
  "src/platforms/nostr/drafts.ts /(?<!": NONE_WITHIN,
  "src/platforms/shared/mastodon/limits.ts /&(": NONE_WITHIN,
  "src/domain/text/markdown-escaper.ts /(https": NONE_WITHIN,
  "src/platforms/shared/mastodon/addresses.ts /(?<before>": TRIED,
  "src/platforms/shared/twitter-text.ts /(?:[a-z0-9": TRIED,
  "src/platforms/shared/twitter-text.ts /(?<before>": TRIED,
  "src/platforms/shared/twitter-text.ts /\\p{RGI_Emoji}": NONE_WITHIN,
  "src/platforms/telegram/index.ts /^(?:https": AT_START,
  "src/platforms/telegram/api.ts /not enough": "words of an answer are cut at 2,000 characters",
  "src/platforms/x/metadata.ts /(?<!": NONE_WITHIN,
};

/** The checker's own time for one expression, in milliseconds. */
const CHECKED_WITHIN_MS = 60_000;

interface Expression {
  /** Where it is, and what it is: `src/a.ts /b+/g`. */
  readonly name: string;
  readonly source: string;
  readonly flags: string;
}

/** Those that the checker has proven linear. A run outside of continuous integration writes it anew. */
const PROVEN = join(ROOT, "test/fixtures/linear-expressions.json");
const proven = new Set<string>(existsSync(PROVEN) ? JSON.parse(readFileSync(PROVEN, "utf8")) : []);

function keyOf({ source, flags }: Pick<Expression, "source" | "flags">): string {
  return `/${source}/${flags}`;
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

const written: Expression[] = [];
/** How many each file makes out of texts. */
const making = new Map<string, number>();

for (const file of ["src", "tools", "apps"].flatMap(filesBelow)) {
  const text = readFileSync(join(ROOT, file), "utf8");
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/");
      written.push({
        name: `${file} ${node.text}`,
        source: node.text.slice(1, end),
        flags: node.text.slice(end + 1),
      });
    }
    if (ts.isNewExpression(node) && node.expression.getText() === "RegExp")
      making.set(file, (making.get(file) ?? 0) + 1);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
}

const made: Expression[] = [];

/** Notes what our files make while they are loaded. */
function recording(real: RegExpConstructor): RegExpConstructor {
  return new Proxy(real, {
    construct(target, [pattern, flags]: [string, string?]) {
      const expression = new target(pattern, flags);
      const { stack = "" } = new Error();
      const file = [...making.keys()].find((name) => stack.includes(join(ROOT, name)));
      if (file !== undefined) {
        const { source, flags: known } = expression;
        made.push({ name: `${file} /${source}/${known}`, source, flags: known });
      }
      return expression;
    },
  });
}

beforeAll(async () => {
  // Another test of this process may have loaded them.
  vi.resetModules();
  const real = globalThis.RegExp;
  globalThis.RegExp = recording(real);
  // Some make theirs out of what another file gives them.
  for (const file of [
    ...making.keys(),
    "src/platforms/discord/metadata.ts",
    "src/platforms/reddit/metadata.ts",
  ])
    await import(join(ROOT, file));
  globalThis.RegExp = real;
});

it("makes expressions out of texts only while files are loaded, so that all of them are seen", () => {
  for (const [file, count] of making)
    expect([file, made.filter(({ name }) => name.startsWith(file)).length >= count]).toEqual([file, true]);
});

it("has exceptions only for what is there", () => {
  const names = [...written, ...made].map(({ name }) => name);
  for (const exception of Object.keys(EXCEPTIONS))
    expect([exception, names.some((name) => name.startsWith(exception))]).toEqual([exception, true]);
});

it("has no expression that takes the square of its text's length", { timeout: 600_000 }, async () => {
  const isExcepted = ({ name }: Expression): boolean =>
    Object.keys(EXCEPTIONS).some((exception) => name.startsWith(exception));
  const asked = [...written, ...made].filter((one) => !isExcepted(one));
  expect(asked.length).toBeGreaterThan(400);
  const slow: string[] = [];
  for (const { name, source, flags } of asked.filter((one) => !proven.has(keyOf(one)))) {
    const found = await check(source, flags, { checker: "automaton", timeout: CHECKED_WITHIN_MS });
    if (found.status === "safe") continue;
    slow.push(`${name}: ${found.status === "vulnerable" ? found.attack.pattern : found.error.kind}`);
  }
  expect(slow).toEqual([]);
  // A proof holds for good, and takes minutes for all of them: what was proven is kept.
  if (process.env["CI"] === undefined)
    writeFileSync(PROVEN, `${JSON.stringify([...new Set(asked.map(keyOf))].sort(), null, 2)}\n`);
});
