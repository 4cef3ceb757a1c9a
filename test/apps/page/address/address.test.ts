import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const PAGE = "apps/page";
const OWNER = "data/address.tsx";
const WRITES =
  /\bhistory\.(?:push|replace)State\b|\buseLocation\b|\buseRoute\b|\blocation\.(?:assign|replace)\(/;

it("one file alone reads and writes the window's address", () => {
  const files = readdirSync(PAGE, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  expect(files).toContain(OWNER);
  const writers = files.filter((path) => {
    // The other tab of a consent has an address of its own.
    const text = readFileSync(`${PAGE}/${path}`, "utf8").replaceAll("tab.location.", "tab.");
    return WRITES.test(text);
  });
  expect(writers).toEqual([OWNER]);
});
