import { expect, it } from "vitest";
import { z } from "zod";
import { toJsonSchema } from "../../src/toolkit/json-schema.ts";

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
