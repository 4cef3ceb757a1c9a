import type { Request } from "express";
import { isWholeText } from "../../domain/whole-text.ts";

/** What a form of a connect page sends; `step` and `way` stand in its address. */
export type Step = "secrets" | "consent" | "address" | "choice";

const STEPS: ReadonlySet<string> = new Set<Step>(["secrets", "consent", "address", "choice"]);

export interface PageAddress {
  /** Null for one that is no form of ours. */
  readonly step: Step | null;
  readonly way: string | undefined;
}

export function readPageAddress(request: Request): PageAddress {
  const query = queryOf(request);
  const step = query.get("step") ?? "secrets";
  return { step: isStep(step) ? step : null, way: query.get("way") ?? undefined };
}

function isStep(text: string): text is Step {
  return STEPS.has(text);
}

function queryOf(request: Request): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(request.originalUrl)?.[1] ?? "");
}

/** What a platform sent a person back with: one text a parameter; null for what no platform sends. */
export function readCallback(request: Request): Record<string, string> | null {
  const query = queryOf(request);
  const names = [...new Set(query.keys())];
  const isWhole =
    names.every((name) => query.getAll(name).length === 1) && [...query].flat().every(isWholeText);
  return isWhole ? Object.fromEntries(query) : null;
}

/** One text a field; anything else is not our form. */
export function readForm(request: Request): Record<string, string> | null {
  const body: unknown = request.body;
  if (typeof body !== "object" || body === null) return null;
  const entries = Object.entries(body);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const isWhole = texts.length === entries.length && texts.flat().every(isWholeText);
  return isWhole ? Object.fromEntries(texts) : null;
}

/** The values of all ticked boxes of that name; null where something else was sent beside them. */
export function readBoxes(request: Request, name: string): readonly string[] | null {
  const body: unknown = request.body;
  if (typeof body !== "object" || body === null) return null;
  if (Object.keys(body).some((field) => field !== name)) return null;
  const value: unknown = Object.entries(body)[0]?.[1] ?? [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((one) => typeof one === "string");
  return texts.length === values.length && texts.every(isWholeText) ? texts : null;
}
