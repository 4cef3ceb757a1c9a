import { z } from "zod";

/** Whether a value is what the schema describes, down to the order of its keys, so that parsing it could only copy it. */
type Check = (value: unknown) => boolean;

/**
 * Parses answers as the schema does, without the copy where it would be the same again: most answers are built field by field
 * after their schema, and a page of 100 posts takes a quarter of a millisecond to copy. Whatever is not surely exact is left to
 * the schema: it takes away what it does not name, or throws.
 */
export function createOutputParser(schema: z.ZodType): (value: unknown) => unknown {
  let isExact: Check | null = null;
  return (value) => {
    isExact ??= compile(schema, new Map());
    return isExact(value) ? value : schema.parse(value);
  };
}

type Known = Map<unknown, Check>;

/** Children are compiled when they are first met: a schema may hold itself. */
function compile(schema: unknown, known: Known): Check {
  const found = known.get(schema);
  if (found !== undefined) return found;
  known.set(schema, (value) => check(value));
  const check = compileComposite(schema, known) ?? compilePlain(schema) ?? unchanged(schema);
  known.set(schema, check);
  return check;
}

function compileComposite(schema: unknown, known: Known): Check | null {
  if (hasChecks(schema)) return null;
  if (schema instanceof z.ZodObject) return compileObject(schema, known);
  if (schema instanceof z.ZodArray) return compileArray(compile(schema.element, known));
  if (schema instanceof z.ZodRecord) return compileRecord(schema, known);
  if (schema instanceof z.ZodUnion) return compileUnion(schema.options, known);
  if (schema instanceof z.ZodLazy) return compile(schema.unwrap(), known);
  if (schema instanceof z.ZodNullable) return orElse(null, compile(schema.unwrap(), known));
  if (schema instanceof z.ZodOptional) return orElse(undefined, compile(schema.unwrap(), known));
  return null;
}

function compilePlain(schema: unknown): Check | null {
  if (schema instanceof z.ZodNumber) return compileNumber(schema);
  if (hasChecks(schema)) return null;
  if (schema instanceof z.ZodString) return (value) => typeof value === "string";
  if (schema instanceof z.ZodISODateTime) return compilePattern(schema.def.pattern);
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === "boolean";
  if (schema instanceof z.ZodNull) return (value) => value === null;
  if (schema instanceof z.ZodEnum) return compileValues(schema.options);
  return null;
}

/** For the rest, zod decides; an object is a new one then, which is not the same. */
function unchanged(schema: unknown): Check {
  if (!(schema instanceof z.ZodType)) return () => false;
  return (value) => {
    const parsed = schema.safeParse(value);
    return parsed.success && Object.is(parsed.data, value);
  };
}

/** Other than those that a schema of its kind begins with. */
function hasChecks(schema: unknown): boolean {
  return (
    !(schema instanceof z.ZodType) ||
    (schema.def.checks?.length ?? 0) > 0 ||
    ("coerce" in schema.def && schema.def.coerce === true)
  );
}

function orElse(missing: null | undefined, check: Check): Check {
  return (value) => value === missing || check(value);
}

function compilePattern(pattern: RegExp | undefined): Check | null {
  if (pattern === undefined || pattern.global || pattern.sticky) return null;
  return (value) => typeof value === "string" && pattern.test(value);
}

function compileValues(values: readonly unknown[]): Check {
  const allowed = new Set(values);
  return (value) => allowed.has(value);
}

/** Whole numbers and plain ones, with bounds that belong to what they allow. */
function compileNumber(schema: z.ZodNumber): Check | null {
  const { format } = schema;
  if ((format !== null && format !== "safeint") || schema.def.coerce === true) return null;
  const isKind = format === null ? Number.isFinite : Number.isSafeInteger;
  let [min, max] = [-Infinity, Infinity];
  for (const rule of schema.def.checks ?? []) {
    if (rule instanceof z.core.$ZodCheckGreaterThan && rule._zod.def.inclusive)
      min = Math.max(min, Number(rule._zod.def.value));
    else if (rule instanceof z.core.$ZodCheckLessThan && rule._zod.def.inclusive)
      max = Math.min(max, Number(rule._zod.def.value));
    else return null;
  }
  return (value) => typeof value === "number" && isKind(value) && value >= min && value <= max;
}

function compileArray(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (const item of value) if (!check(item)) return false;
    return true;
  };
}

/** Keys in the schema's order and no others, as zod would write them. */
function compileObject(schema: z.ZodObject, known: Known): Check | null {
  const { catchall } = schema.def;
  if (catchall !== undefined && !(catchall instanceof z.ZodNever)) return null;
  const keys = Object.keys(schema.shape);
  const checks = keys.map((key) => compile(schema.shape[key], known));
  const isOptional = keys.map((key) => schema.shape[key] instanceof z.ZodOptional);
  return (value) => {
    if (!isPlain(value)) return false;
    let at = 0;
    for (const key in value) {
      while (keys[at] !== key) if (isOptional[at++] !== true) return false;
      if (checks[at]?.(value[key]) !== true) return false;
      at += 1;
    }
    while (isOptional[at] === true) at += 1;
    return at === keys.length;
  };
}

function compileRecord(schema: z.ZodRecord, known: Known): Check | null {
  const { keyType, valueType } = schema;
  if (!(keyType instanceof z.ZodString) || hasChecks(keyType)) return null;
  const check = compile(valueType, known);
  return (value) => {
    if (!isPlain(value)) return false;
    for (const key in value) if (key === "__proto__" || !check(value[key])) return false;
    return true;
  };
}

type Kind = "string" | "number" | "boolean" | "null" | "array" | "object";

/** Only choices that a value's type decides: of others, zod takes the first that fits, and may cut it down. */
function compileUnion(options: readonly unknown[], known: Known): Check | null {
  const choices = new Map<Kind, Check>();
  for (const option of options) {
    const kind = kindOfSchema(option);
    if (kind === null || choices.has(kind)) return null;
    choices.set(kind, compile(option, known));
  }
  return (value) => {
    const kind = kindOf(value);
    return kind !== null && choices.get(kind)?.(value) === true;
  };
}

function kindOfSchema(schema: unknown): Kind | null {
  if (schema instanceof z.ZodString) return "string";
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodBoolean) return "boolean";
  if (schema instanceof z.ZodNull) return "null";
  if (schema instanceof z.ZodArray) return "array";
  return schema instanceof z.ZodObject || schema instanceof z.ZodRecord ? "object" : null;
}

function kindOf(value: unknown): Kind | null {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" || type === "object" ? type : null;
}

/** Nothing that could turn into something else in JSON. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
