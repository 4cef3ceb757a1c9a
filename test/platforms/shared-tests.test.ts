import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";

const { platforms } = await loadCatalog();

function filesIn(folder: URL): { name: string; text: string }[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name }) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));
}

it("where all platforms are tried, none is named: what one has of its own stands in its stage", () => {
  const shared = ["./", "../support/contract/"].flatMap((path) => filesIn(new URL(path, import.meta.url)));
  expect(shared.length).toBeGreaterThan(20);
  const named = platforms.flatMap(({ name }) =>
    shared
      .filter(({ text }) => text.includes(`"${name}"`) || text.includes(`/${name}/`))
      .map((file) => `${file.name} names ${name}`),
  );
  expect(named).toEqual([]);
});
