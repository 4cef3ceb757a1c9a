import * as z from "zod";

/** Arguments that may be left out, as many tools have them. `max`: characters of a text, or items of a list. */
export const optionalName = (max: number) => z.string().min(1).max(max).optional();
export const optionalText = (max: number) => z.string().max(max).optional();
export const optionalNames = (max: number) => z.array(z.string()).min(1).max(max).optional();

/** The bounds of a span of time. They choose what is there, so an empty text leaves them out as it does names. */
export const optionalBounds = (what: string) => ({
  from: z.string().optional().describe(`${what} from this time or date on.`),
  to: z.string().optional().describe(`${what} until then. A date: its end.`),
});

/** The schema of the value itself, without what says that it may be left out or empty. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return unwrapped(schema.unwrap() as z.ZodType);
  return schema;
}
