export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function jsonOf(value: unknown): Json {
  return isJson(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
