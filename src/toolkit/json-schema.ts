import * as z from "zod";
import { isFields } from "../domain/explain-invalid.ts";

export type JsonSchema = Record<string, unknown>;

/**
 * A schema as JSON Schema 2020-12, the same object for MCP, HTTP and the documents: without references and
 * without lists of types, which many clients do not understand; an input besides in the few keywords that
 * every model's API takes (`toPlain`). What the schema's own `.meta()` says stays to the letter: its author
 * knows why.
 */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return write(schema, { io, listed: null });
}

/** Where an output is listed: the tool it is of, and all there are. */
interface OutputListing {
  readonly tool: string;
  readonly tools: readonly string[];
}

/**
 * An output as lists of tools, which a model reads whole before its first call, show it: the result's own
 * fields, and of what lies deeper the names. Every result fits it. Which fields are always there it does not
 * say.
 */
export function toListedSchema(output: z.ZodType, listed: OutputListing): JsonSchema {
  return write(output, { io: "output", listed });
}

function write(schema: z.ZodType, how: Pick<Writing, "io" | "listed">): JsonSchema {
  // `input`: a field with a default is optional for the caller.
  const full = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io: how.io,
    reused: "inline",
    unrepresentable: "any",
    override: tidy,
  });
  const defs = isFields(full.$defs) ? full.$defs : {};
  return { ...writeOut(full, { ...how, defs, isRoot: true }), ...schema.meta() };
}

/** Drops what says the same twice (`pattern` beside `format`, bounds of "a safe integer") and our notes. */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema["media"];
  if ("format" in jsonSchema) delete jsonSchema["pattern"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
}

interface Writing {
  readonly io: "input" | "output";
  readonly listed: OutputListing | null;
  readonly defs: JsonSchema;
  /** Of deeper objects lists tell only the names of the fields. */
  readonly isRoot: boolean;
}

/** 2020-12 is what everybody assumes, and names of JSON fields are always texts. */
const OBVIOUS: readonly string[] = ["$schema", "$defs", "id", "propertyNames"];

/** What a model sees in the result itself. */
const SEEN: readonly string[] = ["required", "format", "const", "enum"];

/** Zod's names for schemas that refer to themselves: here only `z.json()`, which means any value. */
const ANY_VALUE = /^#\/\$defs\/__schema\d+$/;

function writeOut(schema: JsonSchema, how: Writing): JsonSchema {
  const { $ref, ...rest } =
    how.io === "input" ? toPlain(splitTypes(schema)) : shorten(splitTypes(schema), how);
  if (typeof $ref === "string") {
    if (ANY_VALUE.test($ref)) return rest;
    const id = $ref.replace("#/$defs/", "");
    const found = how.defs[id];
    if (!isFields(found)) throw new Error(`A tool's schema refers to ${$ref}, which is not there.`);
    return writeOut({ ...found, ...rest, id }, how);
  }
  const dropped = how.listed === null ? OBVIOUS : [...OBVIOUS, ...SEEN];
  const kept = Object.entries(rest).filter(([keyword]) => !dropped.includes(keyword));
  const inner = { ...how, isRoot: false };
  const written = kept.map(([keyword, value]) => [keyword, writeValue(keyword, value, inner)] as const);
  const said = written.filter(
    ([keyword, value]) => keyword !== "additionalProperties" || !saysNothing(value, how),
  );
  return how.listed === null ? Object.fromEntries(said) : withoutItems(Object.fromEntries(said));
}

/** Of a list or a record only what it is, and where its kind is listed: every result fits what says less. */
function withoutItems({ items, additionalProperties: _additional, ...schema }: JsonSchema): JsonSchema {
  const place = isFields(items) ? (items["description"] ?? []) : [];
  const description = [schema["description"] ?? [], place].flat().join(" ");
  return description === "" ? schema : { ...schema, description };
}

function writeValue(keyword: string, value: unknown, how: Writing): unknown {
  // Its keys are names of fields, which may be called like a keyword.
  if (keyword === "properties" && isFields(value))
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, writePart(part, how)]));
  return Array.isArray(value) ? value.map((item: unknown) => writePart(item, how)) : writePart(value, how);
}

function writePart(value: unknown, how: Writing): unknown {
  return isFields(value) ? writeOut(value, how) : value;
}

/** Of an object below a result's own fields only what it is, or the tool that lists its kind: a model sees the result. */
function shorten(schema: JsonSchema, { listed, isRoot }: Writing): JsonSchema {
  const { id, properties, required: _required, additionalProperties: _additional, ...rest } = schema;
  if (listed === null || isRoot || !isFields(properties)) return schema;
  const place = typeof id === "string" ? `list_${id.toLowerCase()}s` : "";
  const isElsewhere = place !== listed.tool && listed.tools.includes(place);
  if (!isElsewhere) return rest;
  return { ...rest, description: [rest["description"] ?? [], `As in ${place}.`].flat().join(" ") };
}

/**
 * An input in the keywords that every model's API takes: OpenAI's strict mode refuses lengths of texts and
 * defaults, Gemini any format but that of a time, and Vertex whatever stands beside an `anyOf`. What a bound or
 * a default tells goes into the description; null is taken for whatever may be left out or emptied, so that
 * it needs no telling.
 */
function toPlain(schema: JsonSchema): JsonSchema {
  const { anyOf, default: fallback, minimum, maximum, maxItems, ...rest } = withoutNull(schema);
  for (const keyword of ["minLength", "maxLength", "minItems", "pattern", "format"]) delete rest[keyword];
  const notes = [
    typeof minimum === "number" && isNear(maximum, 1_000) ? `${minimum} to ${maximum}.` : [],
    isNear(maxItems, 100) ? `Up to ${maxItems}.` : [],
    fallback === undefined ? [] : `Default: ${JSON.stringify(fallback)}.`,
  ].flat();
  return {
    ...rest,
    ...(anyOf === undefined ? {} : { anyOf }),
    ...(notes.length === 0 ? {} : { description: [rest["description"] ?? [], notes].flat().join(" ") }),
  };
}

/** Whether it is told: no call comes to the others by chance. */
function isNear(bound: unknown, most: number): boolean {
  return typeof bound === "number" && bound <= most;
}

/** `anyOf` of one schema and null as that schema. */
function withoutNull({ anyOf, ...rest }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return rest;
  const choices: readonly unknown[] = anyOf;
  const [one, ...others] = choices.filter((choice) => !(isFields(choice) && choice["type"] === "null"));
  return isFields(one) && others.length === 0 ? { ...one, ...rest } : { ...rest, anyOf };
}

/** An empty schema for further fields only tells that nothing is known of them. */
function saysNothing(additional: unknown, { io }: Writing): boolean {
  // The next version may answer more fields: a client that keeps the list must not refuse them.
  if (additional === false) return io === "output";
  return isFields(additional) && Object.keys(additional).length === 0;
}

/** `type: ["string", "null"]` as `anyOf`. */
function splitTypes(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  return Array.isArray(type) ? { anyOf: type.map((one: unknown) => ({ type: one })), ...rest } : schema;
}
