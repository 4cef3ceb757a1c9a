import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { ASSISTANTS, installFor } from "../../apps/page/rooms/settings/install.ts";
import { clientsPage, cursorLink, vscodeLink } from "../../scripts/client-docs.ts";
import { assertReleasable, bundleManifest, REPOSITORY, serverEntry } from "../../scripts/packages.ts";
import { loadCatalog } from "../../src/app/setup.ts";
import { CLIENTS } from "../../src/cli/install/clients.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const json = (path: string): any => JSON.parse(readFileSync(join(ROOT, path), "utf8"));

function problemsOf(schema: string, value: unknown): unknown {
  const ajv = new Ajv({ strict: false });
  formats.default(ajv);
  const validate = ajv.compile(json(`test/fixtures/schemas/${schema}`));
  return validate(value) ? [] : validate.errors;
}

describe("the entry in the registry", () => {
  it("is what its schema wants, and says what package.json says (npm run readme)", () => {
    expect(json("server.json")).toEqual(serverEntry());
    expect(problemsOf("server-2025-12-11.schema.json", serverEntry())).toEqual([]);
    const { version, mcpName } = json("package.json");
    expect(serverEntry()).toMatchObject({ name: mcpName, version, packages: [{ version }] });
    expect(REPOSITORY).toBe("https://github.com/posthorn/posthorn");
  });
});

describe("a release", () => {
  it("is refused while changes are pending, or where none are told of it", () => {
    const release = (changes: string) => () =>
      assertReleasable(changes, { ...json("package.json"), version: "1.2.0" });
    expect(release("# Changes\n\n## Pending\n\n## 1.2.0\n\n- New.\n\n## 1.1.0\n\n- Old.\n")).not.toThrow();
    expect(release("# Changes\n\n## Pending\n\n- Not yet.\n\n## 1.2.0\n\n- New.\n")).toThrow("under Pending");
    expect(release("# Changes\n\n## Pending\n\n## 1.2.0\n\n## 1.1.0\n\n- Old.\n")).toThrow(
      "nothing of 1.2.0",
    );
  });

  it("has a section in the change log", () => {
    const [, , first] = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").split(/^## /m);
    expect(first).toMatch(new RegExp(`^${json("package.json").version.replaceAll(".", "\\.")}$`, "m"));
  });
});

describe("the bundle", () => {
  it("has the manifest that its schema wants", async () => {
    const { tools } = await loadCatalog();
    expect(problemsOf("mcpb-manifest-v0.3.schema.json", bundleManifest(tools))).toEqual([]);
  });
});

describe("docs/clients.md", () => {
  const page = clientsPage();

  it("shows for each client what its configuration is", () => {
    const blocks = [...page.matchAll(/```(json|toml)\n([^]*?)```/g)].map(([, language, text = ""]) =>
      language === "toml" ? parseToml(text) : JSON.parse(text),
    );
    for (const { section, entry } of CLIENTS) {
      const launch = { command: "posthorn", args: ["stdio"], env: {} };
      expect(blocks).toContainEqual({ [section]: { posthorn: entry(launch) } });
    }
  });

  it("says over HTTP what the page says", () => {
    const server = { publicUrl: "http://127.0.0.1:4747", key: "<API_KEY>" };
    for (const { name } of ASSISTANTS.filter(({ needsKey }) => needsKey))
      expect(page).toContain(installFor(name, server).text);
  });

  it("has links that start an agent that writes drafts", () => {
    const cursor = new URL(cursorLink()).searchParams;
    const launch = { command: "npx", args: ["-y", "posthorn", "stdio", "--role", "writer"] };
    expect(JSON.parse(Buffer.from(cursor.get("config")!, "base64").toString())).toEqual(launch);
    const [, scheme, config] = /^([\w-]+):mcp\/install\?(.+)$/.exec(
      new URL(vscodeLink("vscode-insiders")).searchParams.get("url")!,
    )!;
    expect(scheme).toBe("vscode-insiders");
    expect(JSON.parse(decodeURIComponent(config!))).toEqual({ name: "posthorn", ...launch });
  });
});
