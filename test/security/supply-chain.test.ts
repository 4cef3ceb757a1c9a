import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), "utf8"));

const Package = z.object({
  scripts: z.record(z.string(), z.string()),
  files: z.array(z.string()),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()),
  scarfSettings: z.object({ enabled: z.boolean() }),
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
      link: z.boolean().optional(),
    }),
  ),
});

const manifest = Package.parse(read("package.json"));
const lock = Lock.parse(read("package-lock.json"));

/** The packages whose code the files of a folder load. */
function importsIn(folder: string): string[] {
  const root = new URL(`../../${folder}/`, import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const loaded =
    /^(?:import (?!type )[^;]*?from |import )"([^".][^"]*)"|\b(?:import|require)\("([^".][^"]*)"\)/gm;
  return files.flatMap((file) =>
    [...readFileSync(new URL(file, root), "utf8").matchAll(loaded)].flatMap(([, named, asked]) => {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(named ?? asked ?? "")?.[0] ?? "";
      return name.startsWith("node:") || DEVELOPMENT.includes(name) ? [] : [name];
    }),
  );
}

/** What only a checkout makes its calendar with. */
const DEVELOPMENT = ["esbuild"];

describe("the package", () => {
  it("runs nothing when it is installed", () => {
    const hooks = Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?install$/.test(name));
    expect(hooks).toEqual([]);
  });

  it("names one version of each library, and leaves out what it does without", () => {
    const { dependencies, optionalDependencies, devDependencies } = manifest;
    for (const version of Object.values({ ...dependencies, ...optionalDependencies, ...devDependencies }))
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(Object.keys(optionalDependencies).sort()).toEqual([
      "@aws-sdk/client-s3",
      "@aws-sdk/lib-storage",
      "@aws-sdk/s3-request-presigner",
      "better-sqlite3",
      "libheif-js",
      "pg",
      "sharp",
    ]);
  });

  it("depends on what its program imports, and on nothing else", () => {
    const { dependencies, optionalDependencies } = manifest;
    const imported = ["src", "tools"].flatMap((folder) => importsIn(folder));
    expect([...new Set(imported)].sort()).toEqual(
      Object.keys({ ...dependencies, ...optionalDependencies }).sort(),
    );
  });

  it("holds the program and its documents alone", () => {
    const documents = ["CHANGELOG.md", "LICENSE", "README.md", "docs"];
    // What agents' clients read of it: texts, and the one command that starts it.
    const forAgents = [
      ".agents",
      ".claude-plugin",
      ".codex-plugin",
      ".cursor-plugin",
      "gemini-extension.json",
      "skills",
    ];
    expect([...manifest.files].sort()).toEqual([...forAgents, ...documents, "dist"].sort());
  });
});

describe("the lock file", () => {
  const entries = Object.entries(lock.packages).filter(([name, { link }]) => name !== "" && link !== true);

  it("has a checksum for each package", () => {
    expect(entries.length).toBeGreaterThan(100);
    expect(entries.filter(([, { integrity }]) => integrity === undefined).map(([name]) => name)).toEqual([]);
    for (const [, { integrity }] of entries) expect(integrity).toMatch(/^sha512-/);
  });

  it("names no host to fetch from", () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  it("runs scripts of the few packages alone that are known to need them", () => {
    const names = entries
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([name]) => name.split("node_modules/").at(-1));
    expect([...new Set(names)].sort()).toEqual(["@scarf/scarf", "better-sqlite3", "esbuild"]);
    // It reports installations of the library it comes with, unless it is told not to.
    expect(manifest.scarfSettings).toEqual({ enabled: false });
  });
});
