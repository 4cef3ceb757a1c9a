import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { pluginFiles, PLUGINS, WRITER } from "../../scripts/plugins.ts";
import { loadCatalog } from "../../src/app/setup.ts";
import { isFields } from "../../src/domain/explain-invalid.ts";
import { toJsonSchema } from "../../src/toolkit/json-schema.ts";
import { runCli } from "../support/cli.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe.each(PLUGINS)("the plugin for $title", ({ files }) => {
  it("is what the list says (npm run readme)", () => {
    for (const [path, value] of Object.entries(files)) expect(JSON.parse(read(path))).toEqual(value);
  });

  it("starts an agent that may not publish", () => {
    const started = Object.values(files).filter((file) => isFields(file) && "mcpServers" in file);
    expect(started).toHaveLength(1);
    expect(started).toMatchObject([{ mcpServers: { posthorn: { command: "npx", args: WRITER.args } } }]);
    expect(WRITER.args.join(" ")).toBe("-y posthorn stdio --role writer");
  });

  it("has the version and name of the package", () => {
    const { name, version } = JSON.parse(read("package.json"));
    const manifest = Object.values(files).find((file) => isFields(file) && "version" in file);
    expect(manifest).toMatchObject({ name, version });
  });
});

it("leads no plugin to a file that is not there", () => {
  const paths = [...JSON.stringify([...pluginFiles()]).matchAll(/"(?:\.\/)?(skills\/?)"/g)];
  expect(paths.length).toBeGreaterThan(0);
  expect(read("skills/posthorn/SKILL.md")).not.toBe("");
});

describe("the skill", () => {
  const text = read("skills/posthorn/SKILL.md");
  const [, head = "", body = ""] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];

  it("is named and told as agents want it, and short", () => {
    const { name, description } = parse(head) as Record<string, string>;
    // https://agentskills.io/specification: the name is the folder's.
    expect(name).toBe("posthorn");
    expect(description!.length).toBeLessThanOrEqual(1_024);
    expect(description).toMatch(/Use it when/);
    expect(Buffer.byteLength(text)).toBeLessThan(5_000);
  });

  it("names only tools and fields that are there", async () => {
    const { tools } = await loadCatalog();
    const words = new Set([...body.matchAll(/\b[a-z]+_[a-z_]+\b/g)].map(([word]) => word));
    const others = ["file_", "post_"];
    const known = [...tools.map(({ name }) => name), ...others];
    expect([...words].filter((word) => !known.includes(word))).toEqual([]);
    const fields = new Set(tools.flatMap((tool) => fieldsOf(toJsonSchema(tool.input, "input"))));
    const answers = ["checks", "error", "failed", "dismissed"];
    const asked = [...body.matchAll(/`([a-zA-Z]+)(?:: [^`]*)?`/g)].map(([, field = ""]) => field);
    expect(asked.filter((field) => ![...fields, ...answers, "idempotencyKey"].includes(field))).toEqual([]);
  });

  it("has three conversations, whose calls every tool takes as they stand", async () => {
    const { tools } = await loadCatalog();
    const blocks = [...body.matchAll(/```\n([^]*?)```/g)].map(([, block = ""]) => block.trim().split("\n"));
    expect(blocks).toHaveLength(3);
    for (const line of blocks.flat()) {
      const [, name = "", args = ""] = /^(\w+) (\{.*\})$/.exec(line) ?? [];
      const tool = tools.find((one) => one.name === name);
      expect([line, tool?.input.safeParse(JSON.parse(args)).error]).toEqual([line, undefined]);
    }
  });
});

function fieldsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf);
  if (!isFields(schema)) return [];
  const own = isFields(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return [...own, ...Object.values(schema).flatMap(fieldsOf)];
}

it("is started with a role that the command line knows", async () => {
  const { stdout } = await runCli(["stdio", "--help"]);
  expect(stdout).toContain('"writer"');
});
