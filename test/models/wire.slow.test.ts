import { beforeAll, describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { localCaller } from "../../src/access/api-keys.ts";
import type { AppContext } from "../../src/context.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { installWorkspace } from "../support/workspace.ts";

/*
 * What becomes of every tool's input in the libraries through which clients hand tools to a model, on its way
 * to the wire. `test/contract/plain-schemas.test.ts` says what the APIs themselves take.
 */

type Schema = Record<string, any>;

const { tools } = await loadCatalog();
const ctx = { settings: { confirm: "always" } } as AppContext;
const listings = createToolbox(ctx, tools).list(localCaller());
const ofPlatforms = [
  "edit_published_post",
  "retry_post",
  "save_draft",
  "schedule_post",
  "schedule_posts",
  "update_post",
];

let load: (path: string) => Promise<any>;

beforeAll(async () => {
  const folder = await installWorkspace("models");
  load = (path) => import(`${folder}node_modules/${path}`);
}, 300_000);

/** The schema without these keywords, at every depth; a property may be called like one. */
function without(keywords: readonly string[], schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (keyword === "properties")
        return [keyword, mapValues(value as Schema, (part) => without(keywords, part as Schema))];
      return [keyword, keyword === "items" ? without(keywords, value as Schema) : value];
    }),
  );
}

function mapValues(fields: Schema, change: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]));
}

/** Names and descriptions at every depth, whatever else a library makes of a schema. */
function told(schema: Schema): unknown {
  const plain: Schema = schema["anyOf"]?.find(({ type }: Schema) => type !== "null") ?? schema;
  const { type, description, properties, items } = plain;
  return {
    // Beside the values that it may have, the type says nothing more.
    type: plain["enum"] ?? type,
    description,
    properties: properties && mapValues(properties as Schema, (part) => told(part as Schema)),
    items: items && told(items as Schema),
  };
}

const hasArguments = ({ inputSchema }: { inputSchema: Schema }): boolean =>
  Object.keys(inputSchema["properties"] as Schema).length > 0;

describe("every tool's input goes out whole", () => {
  it("to Gemini by @ai-sdk/google", async () => {
    const { createGoogleGenerativeAI } = await load("@ai-sdk/google/dist/index.js");
    let sent: Schema = {};
    const google = createGoogleGenerativeAI({
      apiKey: "none",
      fetch: async (_url: string, { body }: { body: string }) => {
        sent = JSON.parse(body) as Schema;
        return new Response("{}", { status: 400 });
      },
    });
    const given = listings.map((tool) => ({ type: "function", ...tool }));
    const prompt = [{ role: "user", content: [{ type: "text", text: "Hello" }] }];
    await expect(google("gemini-2.5-flash").doGenerate({ prompt, tools: given })).rejects.toThrow();
    const declared = sent["tools"][0].functionDeclarations as Schema[];
    expect(declared.map(({ parameters }) => parameters)).toEqual(
      listings.map((tool) =>
        hasArguments(tool) ? without(["additionalProperties", "minItems"], tool.inputSchema) : undefined,
      ),
    );
  });

  it("to Gemini and Vertex by @langchain/google-genai, which mends nothing", async () => {
    const { ChatGoogleGenerativeAI } = await load("@langchain/google-genai/dist/index.js");
    const model = new ChatGoogleGenerativeAI({ apiKey: "none", model: "gemini-2.5-flash" });
    const given = listings.map(({ name, description, inputSchema }) => ({
      name,
      description,
      schema: inputSchema,
      lc_namespace: [],
      invoke: () => {},
    }));
    const declared = model.invocationParams({ tools: given }).tools[0].functionDeclarations as Schema[];
    expect(declared.map(({ parameters }) => parameters)).toEqual(
      listings.map((tool) =>
        hasArguments(tool) ? without(["additionalProperties"], tool.inputSchema) : undefined,
      ),
    );
  });

  it("to OpenAI by @openai/agents-core, strictly but for the platforms' own fields", async () => {
    const { mcpToFunctionTool } = await load("@openai/agents-core/dist/index.mjs");
    const made = listings.map((tool) => mcpToFunctionTool(tool, { name: "posthorn" }, true) as Schema);
    expect(made.filter(({ strict }) => !strict).map(({ name }) => name as string)).toEqual(ofPlatforms);
    for (const [at, { parameters, strict }] of made.entries()) {
      const { inputSchema } = listings[at]!;
      expect(told(parameters as Schema)).toEqual(told(inputSchema));
      if (strict === true)
        expect(parameters.required).toEqual(Object.keys(inputSchema["properties"] as Schema));
    }
  });

  it("to Anthropic by its own SDK, strictly too where there are no platforms' own fields", async () => {
    const { transformJSONSchema } = await load("@anthropic-ai/sdk/lib/transform-json-schema.mjs");
    for (const { name, inputSchema } of listings)
      if (!ofPlatforms.includes(name))
        expect(told(transformJSONSchema(inputSchema) as Schema)).toEqual(told(inputSchema));
  });
});
