import { expect, it } from "vitest";
import { z } from "zod";
import { toJsonSchema, toListedSchema } from "../../src/toolkit/json-schema.ts";

it("writes references out, types apart, and leaves out what goes without saying", () => {
  const Place = z.object({ city: z.string() }).meta({ id: "Place" });
  const schema = z.strictObject({ from: Place, to: Place.optional(), count: z.int().nullable() });
  const written = toJsonSchema(schema, "output");
  expect(written).not.toHaveProperty("$schema");
  expect(JSON.stringify(written)).not.toContain("$ref");
  expect(written).toMatchObject({
    required: ["from", "count"],
    properties: {
      to: { properties: { city: { type: "string" } } },
      count: { anyOf: [{ type: "integer" }, { type: "null" }] },
    },
  });
});

it("keeps to the letter what a schema's author says of it", () => {
  const said = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { place: { $anchor: "place", type: "object" } },
    properties: { place: { $ref: "#/$defs/place" }, phone: { type: ["string", "null"] } },
    anyOf: [{ required: ["place"] }, { required: ["phone"] }],
  };
  const schema = z.strictObject({ place: z.object({}).optional(), phone: z.string().nullish() }).meta(said);
  expect(toJsonSchema(schema, "input")).toEqual({ type: "object", additionalProperties: false, ...said });
});

it("tells an input in the keywords that every model's API takes, and bounds and defaults in words", () => {
  const schema = z.strictObject({
    text: z.string().min(1).max(300).nullable().optional().describe("A text."),
    address: z.url().optional().describe("An address."),
    limit: z.int().min(1).max(500).default(50).describe("How many."),
    kinds: z
      .array(z.enum(["a", "b"]))
      .min(1)
      .max(9)
      .optional()
      .describe("Only these."),
    fields: z.record(z.string(), z.json()).nullable().optional().describe("Any."),
  });
  expect(toJsonSchema(schema, "input")).toEqual({
    type: "object",
    additionalProperties: false,
    properties: {
      text: { type: "string", description: "A text." },
      address: { type: "string", description: "An address." },
      limit: { type: "integer", description: "How many. 1 to 500. Default: 50." },
      kinds: {
        type: "array",
        items: { type: "string", enum: ["a", "b"] },
        description: "Only these. Up to 9.",
      },
      fields: { type: "object", description: "Any." },
    },
  });
});

const Post = z
  .strictObject({ id: z.string(), status: z.string(), at: z.iso.datetime() })
  .meta({ id: "Post" });

it("shows a result's own fields, and leads to the tool that lists the kind of deeper ones", () => {
  const output = z.strictObject({ posts: z.array(Post), last: Post.nullable().describe("The last one.") });
  const listed = (tool: string): unknown =>
    toListedSchema(output, { tool, tools: ["get_post", "list_posts"] })["properties"];
  const shown = { type: "object" };
  const elsewhere = { type: "object", description: "As in list_posts." };
  expect(listed("list_posts")).toEqual({
    posts: { type: "array" },
    last: { anyOf: [shown, { type: "null" }], description: "The last one." },
  });
  expect(listed("get_post")).toEqual({
    posts: { type: "array", description: "As in list_posts." },
    last: { anyOf: [elsewhere, { type: "null" }], description: "The last one." },
  });
  expect(toListedSchema(output, { tool: "get_post", tools: ["get_post"] })["properties"]).toMatchObject({
    posts: { type: "array" },
  });
});

it("keeps what is said of the whole", () => {
  const many = Object.fromEntries("abcdefghij".split("").map((name) => [name, z.string()]));
  const output = z.strictObject({
    publisher: z.strictObject({ running: z.boolean(), workers: z.int() }).describe("Who sends."),
    all: z.array(z.strictObject(many)).describe("All."),
    texts: z.record(z.string(), z.string()).describe("By name."),
  });
  expect(toListedSchema(output, { tool: "get_status", tools: ["get_status"] })).toEqual({
    type: "object",
    properties: {
      publisher: { type: "object", description: "Who sends." },
      all: { type: "array", description: "All." },
      texts: { type: "object", description: "By name." },
    },
  });
});
