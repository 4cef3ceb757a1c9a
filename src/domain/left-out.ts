import * as z from "zod";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Arguments as they are meant: models send null or an empty text for whatever they leave out. So of an
 * argument that may be left out both mean that it is, at every depth, unless its schema takes them for a
 * value: a text with `min(0)` may be empty, and what is nullable is emptied by either.
 */
export function withoutLeftOut(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return withoutLeftOut(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.map((item) => withoutLeftOut(schema.element as z.ZodType, item));
  }
  if (!(schema instanceof z.ZodObject) || !isFields(value)) return value;
  const meant = Object.entries(value).flatMap(([name, given]) => {
    const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
    if (field === undefined) return [[name, given]];
    const kept = isEmpty(given) ? meaningOf(field, given) : given;
    return kept === undefined ? [] : [[name, withoutLeftOut(field, kept)]];
  });
  return Object.fromEntries(meant);
}

/** Of null or an empty text: the value it stands for; undefined where it stands for none. */
function meaningOf(field: z.ZodType, given: null | ""): unknown {
  const isRequired = !field.safeParse(undefined).success;
  if (isRequired || (given === "" && mayBeEmpty(field))) return given;
  return field.safeParse(null).success ? null : undefined;
}

function mayBeEmpty(field: z.ZodType): boolean {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault || field instanceof z.ZodNullable)
    return mayBeEmpty(field.unwrap() as z.ZodType);
  return field instanceof z.ZodString && field.minLength === 0;
}

function isEmpty(value: unknown): value is null | "" {
  return value === null || value === "";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
