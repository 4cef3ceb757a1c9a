import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * A schema as JSON Schema 2020-12, the same object for MCP, HTTP and the documents: without references and without lists of types,
 * which many clients do not understand. What the schema's own `.meta()` says stays to the letter: its author knows why.
 */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  // `input`: a field with a default is optional for the caller.
  const full = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    reused: "inline",
    unrepresentable: "any",
    override: tidy,
  });
  const written = writeOut(full, { defs: isSchema(full.$defs) ? full.$defs : {}, isOpen: io === "output" });
  return { ...written, ...schema.meta() };
}

/** Drops what says the same twice: `pattern` beside `format`, and the bounds that only mean "a safe integer". */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if ("format" in jsonSchema) delete jsonSchema["pattern"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
}

interface Writing {
  readonly defs: JsonSchema;
  /** The next version may answer more fields: a client that keeps the list must not refuse them. */
  readonly isOpen: boolean;
}

/** 2020-12 is what everybody assumes, and names of JSON fields are always texts. */
const OBVIOUS: readonly string[] = ["$schema", "$defs", "id", "propertyNames"];

/** Zod's names for schemas that refer to themselves: here that is `z.json()` alone, which means any value. */
const ANY_VALUE = /^#\/\$defs\/__schema\d+$/;

function writeOut(schema: JsonSchema, how: Writing): JsonSchema {
  const { $ref, ...rest } = splitTypes(schema);
  if (typeof $ref === "string")
    return ANY_VALUE.test($ref) ? rest : writeOut({ ...definition($ref, how.defs), ...rest }, how);
  const kept = Object.entries(rest).filter(([keyword]) => !OBVIOUS.includes(keyword));
  const written = kept.map(([keyword, value]) => [keyword, writeValue(keyword, value, how)] as const);
  return Object.fromEntries(
    written.filter(([keyword, value]) => keyword !== "additionalProperties" || !saysNothing(value, how)),
  );
}

function writeValue(keyword: string, value: unknown, how: Writing): unknown {
  // Its keys are names of fields, which may be called like a keyword.
  if (keyword === "properties" && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, writePart(part, how)]));
  }
  return Array.isArray(value) ? value.map((item: unknown) => writePart(item, how)) : writePart(value, how);
}

function writePart(value: unknown, how: Writing): unknown {
  return isSchema(value) ? writeOut(value, how) : value;
}

function definition(reference: string, defs: JsonSchema): JsonSchema {
  const found = defs[reference.replace("#/$defs/", "")];
  if (!isSchema(found)) throw new Error(`A tool's schema refers to ${reference}, which is not there.`);
  return found;
}

/** An empty schema for further fields only tells that nothing is known of them. */
function saysNothing(additional: unknown, { isOpen }: Writing): boolean {
  return additional === false ? isOpen : isSchema(additional) && Object.keys(additional).length === 0;
}

/** `type: ["string", "null"]` as `anyOf`. */
function splitTypes(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  return Array.isArray(type) ? { anyOf: type.map((one: unknown) => ({ type: one })), ...rest } : schema;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
