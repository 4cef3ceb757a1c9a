import { expect, it } from "vitest";
import { z } from "zod";
import { toJsonSchema, toListedSchema } from "../../src/toolkit/json-schema.ts";

it("writes references out, types apart, and leaves out what goes without saying", () => {
  const Place = z.object({ city: z.string() }).meta({ id: "Place" });
  const written = toJsonSchema(
    z.strictObject({ from: Place, to: Place.optional(), count: z.int().nullable() }),
    "input",
  );
  expect(written).not.toHaveProperty("$schema");
  expect(JSON.stringify(written)).not.toContain("$ref");
  expect(written).toMatchObject({
    additionalProperties: false,
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

it("shows of a result what its tool is read for, names the rest, and leads there from other tools", () => {
  const Post = z.strictObject({ id: z.string(), status: z.string(), attempts: z.int() }).meta({ id: "Post" });
  const output = z.strictObject({ posts: z.array(Post), last: Post.nullable().describe("The last one.") });
  const shown = {
    type: "object",
    description: "Also attempts.",
    properties: { id: { type: "string" }, status: { type: "string" } },
  };
  expect(toListedSchema(output, "list_posts")["properties"]).toEqual({
    posts: { type: "array", items: shown },
    last: { anyOf: [shown, { type: "null" }], description: "The last one." },
  });
  const elsewhere = { type: "object", description: "As in list_posts." };
  expect(toListedSchema(output, "get_post")["properties"]).toEqual({
    posts: { type: "array", items: elsewhere },
    last: { anyOf: [elsewhere, { type: "null" }], description: "The last one." },
  });
});

it("shortens what has no id by its path", () => {
  const output = z.strictObject({
    publisher: z.strictObject({ running: z.boolean(), workers: z.int() }).describe("Who sends."),
  });
  expect(toListedSchema(output, "get_status")["properties"]).toEqual({
    publisher: {
      type: "object",
      description: "Who sends. Also workers.",
      properties: { running: { type: "boolean" } },
    },
  });
});
