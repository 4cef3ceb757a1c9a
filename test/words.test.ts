import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = ["src", "tools", "apps"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    // Released migrations stay as they are.
    .filter((path) => /\.tsx?$/.test(path) && !/\/migrations\/\d/.test(path)),
);

/** Words that need a second reading; in quotes, "nobody" is a value of a platform's. */
const HARD = /(?<!")\b(nobody|whoever|whomever|somebody|wherein|thereof|of which|of whom)\b/gi;

/** The last column of the glossary: words that another word stands for. */
function wordsNotUsed(): string[] {
  const rows = readFileSync(join(ROOT, "docs/glossary.md"), "utf8").split("\n");
  return rows
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 5 && !/^-*$|^Not$/.test(cells[3] ?? ""))
    .flatMap((cells) => (cells[3] ?? "").split(", "));
}

/** `finishAttempt` as "finish attempt", `crash_count` as "crash count". */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_-]/g, " ")
    .toLowerCase();
}

/** Names that a file gives to something of its own, with that of the file. */
function namesIn(path: string): string[] {
  const names = [
    path
      .split("/")
      .at(-1)
      ?.replace(/\.tsx?$/, "") ?? "",
  ];
  const visit = (node: ts.Node): void => {
    const name = (node as ts.NamedDeclaration).name;
    // A property's name may be another library's.
    if (name !== undefined && ts.isIdentifier(name) && !ts.isPropertyAssignment(node)) names.push(name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.Latest));
  return names;
}

it("has one name for one idea", () => {
  const others = wordsNotUsed();
  expect(others).toContain("settle");
  const isOther = new RegExp(`\\b(${others.join("|").replaceAll("-", "[ -]")})s?\\b`);
  const found = SOURCES.flatMap((path) =>
    namesIn(path)
      .filter((name) => isOther.test(wordsOf(name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(found).toEqual([]);
});

it("says things in words that are understood at the first reading", () => {
  const found = SOURCES.flatMap((path) =>
    readFileSync(join(ROOT, path), "utf8")
      .split("\n")
      .flatMap((line, at) => (line.match(HARD) ?? []).map((word) => `${path}:${at + 1}: ${word}`)),
  );
  expect(found).toEqual([]);
});

/** Phrases for which people have a word: expired, dismissed, time zone. */
const ROUNDABOUT =
  /\b(good no more|works? no more|puts? (it |one |them )?away|stands here|by the clock of)\b/gi;

it("speaks to people, and of what they see, in their words", () => {
  const found = SOURCES.filter((path) => path.startsWith("apps/")).flatMap((path) =>
    (readFileSync(join(ROOT, path), "utf8").match(ROUNDABOUT) ?? []).map((phrase) => `${path}: ${phrase}`),
  );
  expect(found).toEqual([]);
});

/** A participle or a preposition says how something is, and not what. */
const NO_THING =
  /^([A-Z][a-z]+ed|At|Begun|Found|Given|Held|In|Kept|Known|Live|Made|Of|On|Own|Said|Seen|Sent|Shown|Told|Written)$/;

/** Terms of the protocol, and of sentences. */
const TERMS = ["Connected", "Fenced", "Reconciled", "Said"];

it("names types after what they hold, and functions of the apps after what they do with it", () => {
  const found = SOURCES.filter((path) => /^(apps|src)\//.test(path)).flatMap((path) => {
    const wrong: string[] = [];
    const visit = (node: ts.Node): void => {
      const isType =
        ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
      if (isType && NO_THING.test(node.name?.text ?? "") && !TERMS.includes(node.name?.text ?? ""))
        wrong.push(`${path}: ${node.name?.text}`);
      if (
        path.startsWith("apps/") &&
        ts.isFunctionDeclaration(node) &&
        /^tell[A-Z]/.test(node.name?.text ?? "")
      )
        wrong.push(`${path}: ${node.name?.text}`);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.Latest));
    return wrong;
  });
  expect(found).toEqual([]);
});
