import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const TOOLS = readdirSync(join(ROOT, "tools")).map((file) => file.replace(/\.ts$/, ""));
const VERBS = [...new Set(TOOLS.map((name) => name.split("_")[0]))];
/** What looks like the name of a tool: a tool's verb, and words behind it. */
const LOOKS_LIKE_A_TOOL = new RegExp(
  `(?<![\\w./:{])(?:${VERBS.join("|")})_[a-z]+(?:_[a-z]+)*(?![\\w(=])`,
  "g",
);

/** Texts of more than one word, but for those that are SQL. */
function sentencesOf(path: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      if (/\w \w/.test(node.text)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.Latest));
  return found;
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

function unknownIn(text: string): string[] {
  return (text.match(LOOKS_LIKE_A_TOOL) ?? []).filter((name) => !TOOLS.includes(name));
}

it("finds a name that no tool has", () => {
  expect(unknownIn("Call get_post_insights for the posts that matter.")).toEqual(["get_post_insights"]);
  expect(unknownIn("Call get_post with insights.")).toEqual([]);
});

it("names only tools that exist in what it tells", () => {
  const files = [...filesBelow("src", ".ts"), ...filesBelow("tools", ".ts")];
  const unknown = files
    .filter((path) => !path.startsWith(join("src", "store")))
    .flatMap((path) =>
      sentencesOf(path)
        .flatMap(unknownIn)
        .map((name) => `${path}: ${name}`),
    );
  expect(unknown).toEqual([]);
});

it("names only tools that exist in its guides to platforms", () => {
  const guides = filesBelow(join("docs", "platforms"), ".md");
  expect(guides.length).toBeGreaterThan(20);
  const unknown = guides.flatMap((path) =>
    unknownIn(readFileSync(join(ROOT, path), "utf8")).map((name) => `${path}: ${name}`),
  );
  expect(unknown).toEqual([]);
});
