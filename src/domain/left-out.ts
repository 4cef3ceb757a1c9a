import * as z from "zod";

/**
 * Arguments as they are meant: models send null or an empty text for whatever they leave out. So of an
 * argument that may be left out both mean that it is, at every depth, unless its schema takes them for a
 * value: a text with `min(0)` may be empty, and what is nullable is emptied by either.
 */
export function withoutLeftOut(schema: z.ZodType, value: unknown): unknown {
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodArray && Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.map((item) => withoutLeftOut(plain.element as z.ZodType, item));
  }
  if (!(plain instanceof z.ZodObject) || !isFields(value)) return value;
  const meant = Object.entries(value).flatMap(([name, given]) => {
    const field = Object.hasOwn(plain.shape, name) ? (plain.shape[name] as z.ZodType) : undefined;
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
  const plain = unwrapped(field);
  return plain instanceof z.ZodString && plain.minLength === 0;
}

function isEmpty(value: unknown): value is null | "" {
  return value === null || value === "";
}

/** The schema of the value itself, without what says that it may be left out or empty. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return unwrapped(schema.unwrap() as z.ZodType);
  return schema;
}

/** A value with named fields, in JSON's terms. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
