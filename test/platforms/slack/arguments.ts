import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { z } from "zod";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";

const Spec = z.object({
  methods: z.record(
    z.string(),
    z.object({
      http: z.enum(["GET", "POST"]),
      json: z.boolean(),
      scopes: z.array(z.string()),
      args: z.record(z.string(), z.json()),
      errors: z.array(z.string()),
    }),
  ),
});

/** Slack's own description of the methods that are called; the file names its source. */
const { methods: SPEC } = Spec.parse(
  JSON.parse(readFileSync(new URL("./spec.json", import.meta.url), "utf8")),
);

const strict = new Ajv({ strict: false });
/** Fields of addresses and forms are texts. */
const coercing = new Ajv({ strict: false, coerceTypes: true });
const compiled = new Map<string, ValidateFunction>();

/** The arguments of a call, or the error that Slack answers it with. */
export function readArgs(
  method: string,
  request: OutboundRequest,
  body: Buffer,
): Record<string, unknown> | string {
  const spec = SPEC[method];
  if (spec === undefined) return "unknown_method";
  if (request.method !== spec.http) return "method_not_supported";
  const type = request.headers?.["content-type"] ?? "";
  const url = new URL(request.url);
  if (request.method === "POST" && url.search !== "") return "invalid_arguments";
  const isJson = type.startsWith("application/json");
  if (isJson && !spec.json) return "invalid_post_type";
  if (isJson && type !== "application/json; charset=utf-8") return "missing_charset";
  if (!isJson && body.length > 0 && type !== "application/x-www-form-urlencoded") return "invalid_post_type";
  const args: Record<string, unknown> = isJson
    ? JSON.parse(body.toString("utf8"))
    : Object.fromEntries(request.method === "GET" ? url.searchParams : new URLSearchParams(body.toString()));
  const key = `${method} ${isJson}`;
  const validate = compiled.get(key) ?? (isJson ? strict : coercing).compile(spec.args);
  compiled.set(key, validate);
  return validate(args) ? args : "invalid_arguments";
}

/** The scopes one of which a method needs. */
export function scopesOf(method: string): readonly string[] {
  return SPEC[method]?.scopes ?? [];
}

/** Errors that any method may give, beside its own. */
const COMMON = [
  ...["invalid_auth", "not_authed", "token_revoked", "account_inactive", "missing_scope", "ratelimited"],
  ...["internal_error", "fatal_error", "invalid_arguments"],
];

/** Throws for an error that the documentation does not have: the fake must not invent any. */
export function known(method: string, error: string): string {
  const [code = ""] = error.split(" ");
  if (COMMON.includes(code) || SPEC[method]?.errors.includes(code) === true) return error;
  throw new Error(`${method} has no error ${code}.`);
}
