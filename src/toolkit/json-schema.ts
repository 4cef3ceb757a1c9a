import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/** A schema as JSON Schema 2020-12, the same object for MCP, HTTP and the documents. */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  // `inline`: clients resolve no $defs; `input`: a field with a default is optional for the caller.
  const full = z.toJSONSchema(schema, { target: "draft-2020-12", io, reused: "inline", unrepresentable: "any", override: tidy });
  if (io === "input") return slim(full, { dropped: OBVIOUS, maxDepth: Infinity }, 0);
  const slimmed = slim(full, { dropped: DETAILS, maxDepth: 1 }, 0);
  // Of an answer, the outermost fields that are always there are worth saying.
  return full.required === undefined ? slimmed : { ...slimmed, required: full.required };
}

/** Drops what says the same twice: `pattern` beside `format`, and the bounds that only mean "a safe integer". */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if ("format" in jsonSchema) delete jsonSchema["pattern"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
}

interface Slimming {
  readonly dropped: readonly string[];
  /** Objects that lie deeper are only called objects. A record under `$defs` lies at 1. */
  readonly maxDepth: number;
}

/** 2020-12 is what everybody assumes, and names of JSON fields are always texts. */
const OBVIOUS: readonly string[] = ["$schema", "propertyNames"];

/**
 * A model reads the answers themselves; of their schemas it needs the shape. With every detail, a listing of all tools is half as
 * long again as what a client may spend on it. The OpenAPI description tells the rest.
 */
const DETAILS: readonly string[] = [...OBVIOUS, "description", "format", "pattern", "minimum", "maximum", "required"];

/** Zod's names for schemas that refer to themselves: here that is `z.json()` alone, which means any value. */
const ANY_VALUE = /^#\/\$defs\/__schema\d+$/;

function slim(schema: JsonSchema, how: Slimming, depth: number): JsonSchema {
  if (typeof schema["$ref"] === "string" && ANY_VALUE.test(schema["$ref"])) return {};
  if (depth > how.maxDepth && "properties" in schema) return { type: "object" };
  const slimmed: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const isClosed = keyword === "additionalProperties" && value === false && how.dropped === DETAILS;
    if (!how.dropped.includes(keyword) && !isClosed) slimmed[keyword] = slimPart(keyword, value, { how, depth });
  }
  return mergeTypes(withoutEmpty(slimmed));
}

function slimPart(keyword: string, value: unknown, { how, depth }: { readonly how: Slimming; readonly depth: number }): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => (isSchema(item) ? slim(item, how, depth) : item));
  if (!isSchema(value)) return value;
  if (keyword !== "properties" && keyword !== "$defs") return slim(value, how, depth);
  // Their keys are names of fields, which may be called like a keyword.
  const named = Object.entries(value).filter(([name]) => !ANY_VALUE.test(`#/$defs/${name}`));
  const below = keyword === "$defs" ? 1 : depth + 1;
  return Object.fromEntries(named.map(([name, part]) => [name, isSchema(part) ? slim(part, how, below) : part]));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `additionalProperties: {}` and `$defs: {}` say nothing. */
function withoutEmpty(schema: JsonSchema): JsonSchema {
  const isEmpty = (value: unknown): boolean => isSchema(value) && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword, value]) => !(["additionalProperties", "$defs"].includes(keyword) && isEmpty(value))),
  );
}

/** `anyOf: [{ type: "string" }, { type: "null" }]` is `type: ["string", "null"]`. */
function mergeTypes(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const types = anyOf.map((part: unknown) => (isSchema(part) && Object.keys(part).length === 1 ? part["type"] : null));
  return types.every((type) => typeof type === "string") ? { ...rest, type: types } : schema;
}
