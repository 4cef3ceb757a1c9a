import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/** A schema as JSON Schema 2020-12, the same object for MCP, HTTP and the documents. */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  // `inline`: clients resolve no $defs; `input`: a field with a default is optional for the caller.
  const full = z.toJSONSchema(schema, { target: "draft-2020-12", io, reused: "inline", unrepresentable: "any", override: tidy });
  return full as JsonSchema;
}

/** Drops what says the same twice: `pattern` beside `format`, and the bounds that only mean "a safe integer". */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if ("format" in jsonSchema) delete jsonSchema["pattern"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
}
