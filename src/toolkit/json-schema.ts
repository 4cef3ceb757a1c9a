import * as z from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * A schema as JSON Schema 2020-12, the same object for MCP, HTTP and the documents: without references and
 * without lists of types, which many clients do not understand. What the schema's own `.meta()` says stays to
 * the letter: its author knows why.
 */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return write(schema, io, null);
}

/**
 * The output of the tool of this name as lists of tools show it: every result fits it, and `LISTED` says what
 * it leaves out. Which fields are always there it does not say.
 */
export function toListedSchema(output: z.ZodType, tool: string): JsonSchema {
  return write(output, "output", tool);
}

interface Listed {
  /** The tool whose output shows the fields; in every other, a word leads there. */
  readonly in: string;
  /** Of the rest only the names are told. */
  readonly fields: readonly string[];
}

/**
 * How lists of tools, which a model reads whole before its first call, shorten results. By the schema's id;
 * what has none is known by its path.
 */
const LISTED: Readonly<Record<string, Listed>> = {
  Post: { in: "list_posts", fields: ["id", "scheduledAt", "status", "caption", "error"] },
  Attempt: { in: "get_post", fields: ["outcome", "error", "lateCause", "steps"] },
  "get_post.history.steps": { in: "get_post", fields: ["step", "state"] },
  Insights: { in: "get_post", fields: ["available", "reason", "metrics"] },
  "get_post.insights.metrics": { in: "get_post", fields: ["views"] },
  Account: {
    in: "list_accounts",
    fields: ["id", "provider", "name", "status", "statusReason", "capabilities"],
  },
  Capabilities: { in: "list_accounts", fields: ["caption", "editPublished"] },
  File: { in: "list_files", fields: ["id", "name", "url", "type", "status", "altText"] },
  Webhook: { in: "list_webhooks", fields: ["id", "status"] },
  Delivery: { in: "list_webhooks", fields: ["id", "event", "status", "error"] },
  "get_account_analytics.series": { in: "get_account_analytics", fields: ["date"] },
  "get_status.publisher": { in: "get_status", fields: ["running"] },
  "get_status.counts": { in: "get_status", fields: ["overdue", "unknownOutcome"] },
  "get_status.lateness": { in: "get_status", fields: ["p95Ms"] },
  "get_status.lastFailures": { in: "get_status", fields: ["id", "error"] },
  "get_status.accountsToReconnect": { in: "get_status", fields: ["id", "reason"] },
  "list_platforms.platforms.setup": { in: "list_platforms", fields: ["steps"] },
  "list_platforms.platforms": {
    in: "list_platforms",
    fields: ["provider", "title", "configured", "missing", "ways", "metadataSchema", "setup"],
  },
};

/** `tool`: whose output is shortened; null for all of it. */
function write(schema: z.ZodType, io: "input" | "output", tool: string | null): JsonSchema {
  // `input`: a field with a default is optional for the caller.
  const full = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    reused: "inline",
    unrepresentable: "any",
    override: tidy,
  });
  const defs = isSchema(full.$defs) ? full.$defs : {};
  return { ...writeOut(full, { defs, isOpen: io === "output", tool, path: tool ?? "" }), ...schema.meta() };
}

/**
 * Drops what says the same twice (`pattern` beside `format`, bounds that only mean "a safe integer") and our
 * own notes.
 */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema["media"];
  if ("format" in jsonSchema) delete jsonSchema["pattern"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
}

interface Writing {
  readonly defs: JsonSchema;
  /** The next version may answer more fields: a client that keeps the list must not refuse them. */
  readonly isOpen: boolean;
  readonly tool: string | null;
  /** The tool's name and those of the properties down to here. */
  readonly path: string;
}

/** 2020-12 is what everybody assumes, and names of JSON fields are always texts. */
const OBVIOUS: readonly string[] = ["$schema", "$defs", "id", "propertyNames"];

/** Zod's names for schemas that refer to themselves: here that is `z.json()` alone, which means any value. */
const ANY_VALUE = /^#\/\$defs\/__schema\d+$/;

function writeOut(schema: JsonSchema, how: Writing): JsonSchema {
  const { $ref, ...rest } = shorten(splitTypes(schema), how);
  if (typeof $ref === "string")
    return ANY_VALUE.test($ref)
      ? rest
      : writeOut({ ...definition($ref, how.defs), ...rest, id: idOf($ref) }, how);
  const dropped = how.tool === null ? OBVIOUS : [...OBVIOUS, "required"];
  const kept = Object.entries(rest).filter(([keyword]) => !dropped.includes(keyword));
  const written = kept.map(([keyword, value]) => [keyword, writeValue(keyword, value, how)] as const);
  return Object.fromEntries(
    written.filter(([keyword, value]) => keyword !== "additionalProperties" || !saysNothing(value, how)),
  );
}

function writeValue(keyword: string, value: unknown, how: Writing): unknown {
  // Its keys are names of fields, which may be called like a keyword.
  if (keyword === "properties" && isSchema(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        name,
        writePart(part, { ...how, path: `${how.path}.${name}` }),
      ]),
    );
  }
  return Array.isArray(value) ? value.map((item: unknown) => writePart(item, how)) : writePart(value, how);
}

function writePart(value: unknown, how: Writing): unknown {
  return isSchema(value) ? writeOut(value, how) : value;
}

function definition(reference: string, defs: JsonSchema): JsonSchema {
  const found = defs[idOf(reference)];
  if (!isSchema(found)) throw new Error(`A tool's schema refers to ${reference}, which is not there.`);
  return found;
}

function idOf(reference: string): string {
  return reference.replace("#/$defs/", "");
}

/** The fields of the table alone, none of them required, and the names of the others. */
function shorten(schema: JsonSchema, { tool, path }: Writing): JsonSchema {
  const { id = path, properties, required: _required, additionalProperties: _additional, ...rest } = schema;
  const listed = LISTED[String(id)];
  if (tool === null || listed === undefined || !isSchema(properties)) return schema;
  const describe = (more: string): JsonSchema => ({
    ...rest,
    description: [rest["description"] ?? [], more].flat().join(" "),
  });
  if (listed.in !== tool) return describe(`As in ${listed.in}.`);
  const isShown = (name: unknown): boolean => listed.fields.some((field) => field === name);
  const others = Object.keys(properties).filter((name) => !isShown(name));
  return {
    ...(others.length === 0 ? rest : describe(`Also ${others.join(", ")}.`)),
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name))),
  };
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
