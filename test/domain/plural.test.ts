import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { plural, withFullStop } from "../../src/domain/text/plain-text.ts";

const SRC = join(import.meta.dirname, "../../src");

/** A count, and behind it what there are several of. Constants are never one. */
const SEVERAL =
  /\$\{(?![A-Z_ /]+\})[\w.()]+\} (?:waiting |stored )?(?:posts|rows|files|lines|channels|drafts|minutes|hours|days|seconds|values|texts)\b/;
/** Where it is one is told within these lines. */
const NEAR_LINES = 3;
/** More than one, for what it is about. */
const MANY = [
  "Checked ${index + 1}",
  "MAX_",
  "made} times",
  "The first ${fitting.length} of",
  "the range has ${count} days",
  "${accountNames.length} channels",
  "${its} posts",
  "The series ${nameDraft(row)} posts on",
  "that month has ${lastDay} days",
  "Publish ${due.length} posts now",
];

it("a count of one is followed by one", () => {
  expect([plural(1, "row"), plural(2, "row"), plural(0, "row")]).toEqual(["1 row", "2 rows", "0 rows"]);
  expect(plural(1, "post is", "posts are")).toBe("1 post is");
  const found = readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const lines = readFileSync(join(SRC, file), "utf8").split("\n");
      return lines.flatMap((line, at) => {
        const near = lines.slice(Math.max(0, at - NEAR_LINES), at + 1).join("\n");
        const isTold = near.includes("=== 1") || MANY.some((text) => line.includes(text));
        return SEVERAL.test(line) && !isTold ? [`${file}: ${line.trim()}`] : [];
      });
    });
  expect(found).toEqual([]);
});

it.each([
  ["No", "No."],
  ["No.", "No."],
  ['It says: "No"', 'It says: "No".'],
  ['It says: "No."', 'It says: "No."'],
  ["", ""],
])("a sentence that another one follows ends: %j", (text, ended) => expect(withFullStop(text)).toBe(ended));
