import * as z from "zod";
import type { Request, Response } from "express";
import { isWholeText } from "../../domain/whole-text.ts";
import { hashToken, LINK_LIFE_MS } from "../../channels/connecting/connect-link.ts";
import type { AppContext } from "../../context.ts";

/** What a form of a connect page sends; `step` and `way` stand in its address. */
const Step = z.enum(["secrets", "consent", "address", "choice"]);
export type Step = z.infer<typeof Step>;

/** `step` is null for one that is no form of ours. */
export function readPageAddress(request: Request): { step: Step | null; way: string | undefined } {
  const query = queryOf(request);
  const step = Step.safeParse(query.get("step") ?? "secrets").data ?? null;
  return { step, way: query.get("way") ?? undefined };
}

function queryOf(request: Request): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(request.originalUrl)?.[1] ?? "");
}

/** What a platform sent a person back with: one text a parameter; null for what no platform sends. */
export function readCallback(request: Request): Record<string, string> | null {
  return singleTexts(queryOf(request));
}

/** One text a field; anything else is not our form. */
export function readForm(request: Request): Record<string, string> | null {
  const fields = fieldsOf(request);
  return fields === null ? null : singleTexts(fields);
}

/** The values of all ticked boxes of that name; null where something else was sent beside them. */
export function readBoxes(request: Request, name: string): readonly string[] | null {
  const fields = fieldsOf(request);
  if (fields === null || [...fields.keys()].some((field) => field !== name)) return null;
  const values = fields.getAll(name);
  return values.every(isWholeText) ? values : null;
}

/** Null where the body is no form: of another type, or none at all. */
function fieldsOf(request: Request): URLSearchParams | null {
  const body: unknown = request.body;
  return typeof body === "string" ? new URLSearchParams(body) : null;
}

function singleTexts(fields: URLSearchParams): Record<string, string> | null {
  const entries = [...fields];
  const isWhole = new Set(fields.keys()).size === entries.length && entries.flat().every(isWholeText);
  return isWhole ? Object.fromEntries(entries) : null;
}

/** One each, so that two links can be followed in one browser. A hash: the state itself stands nowhere. */
const nameOf = (stateHash: string): string => `posthorn_${stateHash}`;

interface Mark {
  readonly request: Pick<Request, "get">;
  readonly response: Response;
  /** Of the state, or of the link itself. */
  readonly stateHash: string;
  /** Whether the person made the link themselves. */
  readonly isOwn?: boolean;
}

/** Marks the browser that is led on, where our own button was pressed: other sites can send the form too. */
export async function markBrowser(
  ctx: AppContext,
  { request, response, stateHash, isOwn = false }: Mark,
): Promise<void> {
  if (request.get("sec-fetch-site") !== "same-origin") return;
  const { protocol, pathname } = new URL(await ctx.publicUrl());
  response.cookie(nameOf(stateHash), isOwn ? OWN : "1", {
    httpOnly: true,
    // A person comes back by a link of the platform's.
    sameSite: "lax",
    secure: protocol === "https:",
    path: `${pathname.replace(/\/$/, "")}/connect`,
    maxAge: LINK_LIFE_MS,
  });
}

const OWN = "own";

export function isMarked(request: Pick<Request, "get">, state: string): boolean {
  return hasCookie(request, state, "1") || isOwnLink(request, state);
}

/** Whether the one who is here made the link, and so needs no word of who sent it. */
export function isOwnLink(request: Pick<Request, "get">, state: string): boolean {
  return hasCookie(request, state, OWN);
}

function hasCookie(request: Pick<Request, "get">, state: string, value: string): boolean {
  const cookies = (request.get("cookie") ?? "").split("; ");
  return cookies.includes(`${nameOf(hashToken(state))}=${value}`);
}
