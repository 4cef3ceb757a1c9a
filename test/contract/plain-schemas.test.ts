import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { localCaller } from "../../src/access/api-keys.ts";
import type { AppContext } from "../../src/context.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";

/*
 * What the APIs of models take of a tool's input. They differ, and a client hands all tools over in one
 * request: one keyword that its model refuses ends the session.
 *
 * OpenAI, strict mode (platform.openai.com/docs/guides/structured-outputs/supported-schemas, as a profile:
 * jsonschemaprofiles.unitvectorylabs.com/schemas/openai): closed objects, no lengths of texts, no default, no
 * allOf, not or if; at first 100 properties in 5 levels
 * (community.openai.com/t/measuring-maximum-depth-and-object-properties-in-structured-outputs/918388).
 * Gemini and Vertex (cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema, a part of
 * OpenAPI 3.0): an `anyOf` stands alone ("When using any_of, it must be the only field set"), texts have the
 * formats enum and date-time (google-gemini/gemini-cli#2237), properties stand beside `type: object`
 * (anomalyco/opencode#11888), and every array says its items.
 * Anthropic: no choice at the root (anomalyco/opencode#38616); strict tools have no bounds
 * (docs.claude.com/en/docs/build-with-claude/structured-outputs).
 *
 * What all of them take are these.
 */
const KEYWORDS = {
  object: ["type", "description", "properties", "required", "additionalProperties"],
  array: ["type", "description", "items", "minItems"],
  string: ["type", "description", "enum"],
  integer: ["type", "description"],
  number: ["type", "description"],
  boolean: ["type", "description"],
} as const;

/** Whose keys are the platforms' own; every other object is closed. */
const OPEN = [
  "edit_published_post.metadata",
  "retry_post.metadata",
  "save_draft.metadata",
  "save_draft.targets[].metadata",
  "schedule_post.metadata",
  "schedule_posts.posts[].metadata",
  "update_post.metadata",
];

type Schema = Readonly<Record<string, unknown>>;

const { tools } = await loadCatalog();
const ctx = { settings: { confirm: "always" } } as AppContext;
const listings = createToolbox(ctx, tools).list(localCaller());

/** Every schema of an input, with its path. */
function* schemasIn(schema: Schema, path: string): Generator<readonly [string, Schema]> {
  yield [path, schema];
  const properties = (schema["properties"] ?? {}) as Record<string, Schema>;
  for (const [name, part] of Object.entries(properties)) yield* schemasIn(part, `${path}.${name}`);
  if (typeof schema["items"] === "object") yield* schemasIn(schema["items"] as Schema, `${path}[]`);
}

const inputs = listings.flatMap(({ name, inputSchema }) => [...schemasIn(inputSchema, name)]);

describe("the inputs of all tools", () => {
  it("are told in the keywords that every model's API takes", () => {
    const refused = inputs.flatMap(([path, schema]) => {
      const known: readonly string[] = KEYWORDS[String(schema["type"]) as keyof typeof KEYWORDS] ?? [];
      return Object.keys(schema).flatMap((keyword) => (known.includes(keyword) ? [] : `${path}: ${keyword}`));
    });
    expect(refused).toEqual([]);
  });

  it("are closed, but for the platforms' own fields", () => {
    const objects = inputs.filter(([, { type }]) => type === "object");
    const open = objects.filter(([, { additionalProperties }]) => additionalProperties !== false);
    expect(open.map(([path]) => path)).toEqual(OPEN);
    // Said to be open where it names some, or libraries close it.
    for (const [, { properties, additionalProperties }] of open)
      expect(additionalProperties).toBe(properties === undefined ? undefined : true);
  });

  it("say what an array holds, require what there is, and have names that all take", () => {
    for (const [path, schema] of inputs) {
      const names = Object.keys((schema["properties"] ?? {}) as Schema);
      expect(names.filter((name) => !/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name))).toEqual([]);
      expect(names).toEqual(expect.arrayContaining((schema["required"] ?? []) as string[]));
      expect([path, schema["type"] !== "array" || typeof schema["items"] === "object"]).toEqual([path, true]);
      for (const value of (schema["enum"] ?? []) as unknown[]) expect(value).toMatch(/^[\w.]+$/);
    }
    for (const { name } of listings) expect(name).toMatch(/^[a-z_]{1,64}$/);
  });

  it("are as deep and as many as the smallest limits allow", () => {
    for (const { inputSchema } of listings) {
      const all = [...schemasIn(inputSchema, "")];
      expect(all.length).toBeLessThanOrEqual(100);
      expect(Math.max(...all.map(([path]) => path.split(/\.|\[\]/).length))).toBeLessThanOrEqual(5 + 1);
    }
  });
});
