import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo, PlatformRequest, SignedRequest } from "../../ports/platform-io.ts";
import { bearer, faultsBy, type FaultRule } from "../shared/faults.ts";
import { RULES } from "./faults.ts";

export const API = "https://slack.com/api";

/** One call of the Web API. Slack reads JSON in some of its methods alone; the others take fields. */
export interface Call {
  readonly method: string;
  /** Fields of a GET. */
  readonly query?: PlatformRequest["query"];
  readonly form?: PlatformRequest["form"];
  readonly json?: PlatformRequest["json"];
  /** Repeating it changes nothing. Default: true for a GET. */
  readonly isIdempotent?: boolean;
  /** What some errors mean to whoever calls, before the usual reading. */
  readonly rules?: readonly FaultRule[];
}

/** A call with the channel's token: that of the bot which was entered, or that of the consent. */
export function call<T>(
  io: Pick<PlatformIo, "ask" | "setting">,
  one: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask({ ...requestOf(io, one), sign }, schema);
}

/** While connecting: the token is at hand. */
export function callWith<T>(io: ConnectIo, token: string, one: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask(withToken(io, token, one), schema);
}

export function withToken(io: Pick<ConnectIo, "setting">, token: string, one: Call): PlatformRequest {
  return { ...requestOf(io, one), ...bearer("token")({ token }) };
}

const sign: NonNullable<SignedRequest["sign"]> = (secrets) =>
  bearer((secrets["botToken"] ?? "") === "" ? "accessToken" : "botToken")(secrets);

function requestOf(io: Pick<ConnectIo, "setting">, one: Call): PlatformRequest {
  const { method, rules = [], json, form, query, isIdempotent } = one;
  const isGet = json === undefined && form === undefined;
  const passing = isIdempotent ?? isGet;
  return {
    method: isGet ? "GET" : "POST",
    url: `${io.setting("BASE_URL") ?? API}/${method}`,
    isIdempotent: passing,
    classify: readingOf(passing, rules),
    ...(query === undefined ? {} : { query }),
    ...(form === undefined ? {} : { form }),
    // Slack warns of JSON without a charset.
    ...(json === undefined ? {} : { json, headers: { "content-type": "application/json; charset=utf-8" } }),
  };
}

/** How answers are read; `rules` come first. */
export function readingOf(
  isIdempotent: boolean,
  rules: readonly FaultRule[] = [],
): NonNullable<PlatformRequest["classify"]> {
  return faultsBy({ title: "Slack", codesOf, rules: [...rules, troubleWhere(isIdempotent), ...RULES] });
}

/** "Some aspect of the operation may have succeeded", as Slack says of these. */
function troubleWhere(isIdempotent: boolean): FaultRule {
  return {
    code: ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "update_failed"],
    kind: isIdempotent ? "transient" : "ambiguous",
    message: "Slack has a problem of its own, so it may have done what was asked.",
  };
}

const Refusal = z.looseObject({ ok: z.literal(false), error: z.string() });

/** Slack refuses with HTTP 200. */
export function codesOf({ json }: { readonly json: unknown }): readonly string[] {
  const refusal = Refusal.safeParse(json);
  return refusal.success ? [refusal.data.error] : [];
}

/** An answer of which nothing is needed; a refusal that a rule takes has this form too. */
export const AnyAnswer = z.looseObject({ ok: z.boolean() });

/** What a list gives to go on with; empty on its last page. */
export const Paging = z.looseObject({ next_cursor: z.string().nullish() }).nullish();
