import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { pluginFiles } from "../scripts/plugins.ts";

const ROOT = join(import.meta.dirname, "..");

/** Paths of what `npm pack` would put into the package, from its top. */
let packed: ReadonlySet<string>;

beforeAll(async () => {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: ROOT,
    maxBuffer: 10_000_000,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  packed = new Set(files.map(({ path }) => path));
}, 120_000);

/** Where the relative links of a page lead, from the top of the package. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/\]\(<?([^)\s>#]+)(#[^)\s]*)?>?\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z][a-z+.-]*:/.test(target))
    .map((target) => posix.join(posix.dirname(page), decodeURI(target)));
}

describe("the package", () => {
  it("has every page that one of its pages leads to", () => {
    const pages = [...packed].filter((path) => path.endsWith(".md"));
    expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/settings.md"]));
    expect(linksOf("README.md")).toContain("docs/settings.md");
    // The bench stands in the checkout only, as its page says.
    const isPacked = (path: string): boolean =>
      path === "bench/README.md" || [...packed].some((file) => `${file}/`.startsWith(`${path}/`));
    const dangling = pages.flatMap((page) =>
      linksOf(page)
        .filter((path) => !isPacked(path))
        .map((path) => `${page} leads to ${path}`),
    );
    expect(dangling).toEqual([]);
  });

  it("has the program, and neither its sources nor anything of this machine", () => {
    expect(existsSync(join(ROOT, manifest.bin.posthorn))).toBe(true);
    expect(packed).toContain(manifest.bin.posthorn);
    expect([...packed].filter((path) => path.endsWith(".map"))).toEqual([]);
    const others = [...packed].filter(
      (path) =>
        !/^(dist|docs|skills)\//.test(path) &&
        !/^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path) &&
        !pluginFiles().has(path),
    );
    expect(others).toEqual([]);
  });

  it("has what clients take as a plugin, and the skill that they find beside it", () => {
    expect([...packed]).toEqual(
      expect.arrayContaining([...pluginFiles().keys(), "skills/posthorn/SKILL.md"]),
    );
  });

  it("says where it comes from and where to report what is wrong", () => {
    const { repository, bugs, homepage, keywords, author } = manifest;
    const home = /^git\+(https:.*)\.git$/.exec(repository.url)?.[1];
    expect([bugs, homepage]).toEqual([`${home}/issues`, `${home}#readme`]);
    expect(new Set(keywords).size).toBe(keywords.length);
    expect(readFileSync(join(ROOT, "LICENSE"), "utf8")).toContain(author);
  });
});
