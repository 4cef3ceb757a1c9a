import type * as z from "zod";

/** A setting as the documentation, `posthorn doctor` and the check for unknown names know it. */
export interface SettingRow {
  readonly name: string;
  readonly meaning: string;
  readonly default: string;
}

/** Of a schema's fields: `meaning` and `default` (left out: none) stand in their meta. */
export function toSettingRows(shape: Readonly<Record<string, z.ZodType>>): SettingRow[] {
  return Object.entries(shape).map(([name, schema]) => {
    const { meaning, default: unset = "none" } = schema.meta() ?? {};
    return { name, meaning: String(meaning), default: String(unset) };
  });
}

/** A line for each field that is wrong, without what it holds. */
export function problemsIn({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}
