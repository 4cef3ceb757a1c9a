import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { loadCatalog } from "../src/app/setup.ts";
import { createToolbox, type ToolListing } from "../src/toolkit/toolbox.ts";
import { callerOf, createTestContext } from "./support/context.ts";

const MAX_DESCRIPTION_CHARS = 1_024;

const ajv = formats.default(new Ajv2020({ allErrors: true }));

type Schema = Readonly<Record<string, unknown>>;

const { tools, platforms } = await loadCatalog();
const listings = await list();

async function list(): Promise<readonly ToolListing[]> {
  await using ctx = await createTestContext({ platformList: platforms });
  return createToolbox(ctx, tools).list(callerOf({ isLocal: true }));
}

describe("all tools", () => {
  it("are those that are promised", () => {
    expect(listings.map((tool) => tool.name)).toEqual([
      "cancel_post",
      "change_posts",
      "check_connection",
      "connect_channel",
      "create_webhook",
      "decide_draft",
      "delete_file",
      "delete_webhook",
      "disconnect_channel",
      "edit_published_post",
      "get_account_analytics",
      "get_post",
      "get_report",
      "get_status",
      "import_posts",
      "list_accounts",
      "list_choices",
      "list_drafts",
      "list_files",
      "list_platforms",
      "list_posts",
      "list_webhooks",
      "replay_webhook",
      "resolve_post",
      "retry_post",
      "save_draft",
      "schedule_post",
      "schedule_posts",
      "set_thumbnail",
      "show_calendar",
      "test_webhook",
      "update_account",
      "update_post",
      "upload_file",
    ]);
  });
});

describe.each(listings.map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
  it("has a title and a description with an example, short enough", () => {
    expect(tool.title).toMatch(/^[A-Z]/);
    expect(tool.description.length).toBeLessThanOrEqual(MAX_DESCRIPTION_CHARS);
    expect(tool.description).toContain("Example");
  });

  it("says which tool comes before it or after it", () => {
    const [told = ""] = tool.description.split("Example");
    const others = listings.filter((one) => one.name !== name && new RegExp(`\\b${one.name}\\b`).test(told));
    expect(others).not.toEqual([]);
  });

  it("states all four hints, and contradicts none", () => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations;
    for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint])
      expect(hint).toBeTypeOf("boolean");
    if (readOnlyHint) expect(destructiveHint).toBe(false);
    if (tool.permission === "read") expect(readOnlyHint).toBe(true);
  });

  it("takes and answers one object, closed, without a choice at its root", () => {
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect(schema["type"]).toBe("object");
      for (const keyword of ["anyOf", "oneOf", "allOf", "$ref"]) expect(schema).not.toHaveProperty(keyword);
    }
    expect(tool.inputSchema["additionalProperties"]).toBe(false);
  });

  it("describes every argument, at every depth, and every field of its result", () => {
    expect(undescribed(tool.inputSchema, name)).toEqual([]);
    const fields = Object.entries(tool.outputSchema["properties"] as Record<string, Schema>);
    expect(
      fields
        .filter(([, field]) => typeof field["description"] !== "string")
        .map(([field]) => `${name}.${field}`),
    ).toEqual([]);
  });

  it("says of every value what it is, in words that every client knows", () => {
    for (const schema of [tool.inputSchema, tool.outputSchema]) expect(unportable(schema, name)).toEqual([]);
  });

  it.each(["everything", "nothing"] as const)(
    "lists a schema that its results fit, where %s that may be there is",
    (amount) => {
      const { output } = tools.find((one) => one.name === name)!;
      const result = exampleOf(
        z.toJSONSchema(output, { unrepresentable: "any", reused: "inline" }) as Schema,
        amount,
      );
      expect(output.safeParse(result).error).toBeUndefined();
      const fits = ajv.compile(tool.outputSchema);
      expect(fits(result) || fits.errors).toBe(true);
    },
  );

  it("has the schemas that were agreed on", async () => {
    await expect(`${JSON.stringify(tool, null, 2)}\n`).toMatchFileSnapshot(`./fixtures/tools/${name}.json`);
  });

  it("has a test of its own or of the service behind it", () => {
    expect(existsSync(new URL(`./tools/${name}.test.ts`, import.meta.url)) || mentionedInTests(name)).toBe(
      true,
    );
  });
});

it("keeps no schema of a tool that is gone", () => {
  const kept = readdirSync(new URL("./fixtures/tools/", import.meta.url));
  expect(kept.sort()).toEqual(tools.map((tool) => `${tool.name}.json`).sort());
});

/** Schemas that fall to a list of types, to a reference, or to any value at all. */
function unportable(schema: Schema, path: string): string[] {
  const parts = Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === "properties") return Object.entries(value as Record<string, Schema>);
    if (["items", "additionalProperties"].includes(keyword) && typeof value === "object")
      return [[keyword, value as Schema] as const];
    return ["anyOf", "oneOf", "allOf"].includes(keyword)
      ? (value as Schema[]).map((part) => [keyword, part] as const)
      : [];
  });
  const isPlain =
    typeof schema["type"] === "string" ||
    ["anyOf", "oneOf", "allOf", "const", "enum"].some((keyword) => keyword in schema);
  return [
    ...(isPlain && !("$ref" in schema) ? [] : [path]),
    ...parts.flatMap(([name, part]) => unportable(part, `${path}.${name}`)),
  ];
}

/** A value of a schema, with everything that may be left out or null, or without any of it. */
function exampleOf(schema: Schema, amount: "everything" | "nothing", root: Schema = schema): unknown {
  const inner = (part: unknown): unknown => exampleOf(part as Schema, amount, root);
  if (typeof schema["$ref"] === "string") return inner(definitionOf(schema["$ref"], root));
  const choices = schema["anyOf"] as Schema[] | undefined;
  if (choices !== undefined) return inner(choices.at(amount === "everything" ? 0 : -1));
  if (schema["enum"] !== undefined) return (schema["enum"] as unknown[])[0];
  if (schema["const"] !== undefined) return schema["const"];
  const types = [schema["type"]].flat();
  switch (types.at(amount === "everything" ? 0 : -1)) {
    case "object": {
      const required = (schema["required"] ?? []) as string[];
      const fields = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
      const extra = typeof schema["additionalProperties"] === "object" && amount === "everything";
      return {
        ...Object.fromEntries(
          fields
            .filter(([key]) => amount === "everything" || required.includes(key))
            .map(([key, part]) => [key, inner(part)]),
        ),
        ...(extra ? { more: inner(schema["additionalProperties"]) } : {}),
      };
    }
    case "array":
      return amount === "everything" ? [inner(schema["items"])] : [];
    case "string":
      return EXAMPLES[String(schema["format"])] ?? "text";
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "anything";
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  "date-time": "2026-11-21T09:00:00.000Z",
  date: "2026-11-21",
};

function definitionOf(reference: string, root: Schema): Schema {
  return (root["$defs"] as Record<string, Schema>)[reference.replace("#/$defs/", "")]!;
}

function undescribed(schema: Schema, path: string): string[] {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
  const choices = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => (schema[keyword] ?? []) as Schema[]);
  const items = [schema["items"], schema["additionalProperties"]].filter(
    (part) => typeof part === "object",
  ) as Schema[];
  return [
    ...properties.flatMap(([key, inner]) => [
      ...(typeof inner["description"] === "string" ? [] : [`${path}.${key}`]),
      ...undescribed(inner, `${path}.${key}`),
    ]),
    ...[...items, ...choices].flatMap((inner) => undescribed(inner, `${path}[]`)),
  ];
}

const TEST_TEXTS = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && file !== "tools.test.ts" && !file.includes("node_modules"))
  .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"));

function mentionedInTests(name: string): boolean {
  return TEST_TEXTS.some((text) => text.includes(`"${name}"`) || text.includes(`tools/${name}`));
}
