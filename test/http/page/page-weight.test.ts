import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { readPageFiles } from "../../../src/http/page/page-files.ts";

const KIB = 1024;

it("is no more than 150 KB to load before the plan is seen", async () => {
  const files = await readPageFiles();
  const textOf = (name: string): string => files.get(name)?.bytes.toString() ?? "";
  const named = (text: string, pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map(([, name = ""]) => name);
  const first = named(textOf("index.html"), /"\/app\/([\w-]+\.(?:js|css))"/g);
  const room = [...files.keys()].find((name) => name.startsWith("plan-room-")) ?? "";
  const wanted = new Set(["index.html", ...first, room]);
  // What scripts import before they run.
  for (const name of wanted)
    for (const other of named(textOf(name), /(?:from|import)"\/app\/([\w-]+\.js)"/g)) wanted.add(other);
  const bytes = [...wanted].map((name) => gzipSync(textOf(name)).length);
  expect(wanted.size).toBeGreaterThan(5);
  expect(Math.min(...bytes)).toBeGreaterThan(20);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(150 * KIB);
});
