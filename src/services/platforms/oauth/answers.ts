import * as z from "zod";
import { SECOND } from "../../../domain/time.ts";
import type { Tokens } from "../../../ports/connect.ts";
import { PlatformFault, type JsonObject } from "../../../ports/platform-io.ts";

/** What is wrong is the app that the administrator registered: no person who connects can mend it. */
export class SetupFault extends PlatformFault {
  constructor(message: string, details: { cause?: unknown; httpStatus?: number } = {}) {
    super("setup", message, details);
  }
}

/** The platform's own words for a refusal: RFC 6749's `error`, Meta's number, Slack's `ok: false`. */
export interface Refusal {
  readonly status: number;
  /** Lower case; "" where it gave none. */
  readonly code: string;
}

const SaysError = z.looseObject({ error: z.string().min(1) });
const SaysMeta = z.looseObject({
  error: z.looseObject({ code: z.union([z.number(), z.string()]), message: z.string().catch("") }),
});
/** Instagram's first step. */
const SaysErrorType = z.looseObject({ error_type: z.string(), error_message: z.string().catch("") });

/** Null where the answer holds none. TikTok, Slack and others refuse with HTTP 200. */
export function readRefusal(status: number, json: unknown): Refusal | null {
  const plain = SaysError.safeParse(json);
  if (plain.success) return { status, code: plain.data.error.toLowerCase().slice(0, 60) };
  const meta = SaysMeta.safeParse(json);
  if (meta.success) return { status, code: metaCode(meta.data.error.code, meta.data.error.message) };
  const typed = SaysErrorType.safeParse(json);
  if (typed.success) return { status, code: metaCode(0, typed.data.error_message) };
  return status >= 400 ? { status, code: "" } : null;
}

/** Of Meta's, the wrong app secret has no number of its own. */
function metaCode(code: number | string, message: string): string {
  const isApp =
    Number(code) === 101 || /client secret|validating application|invalid (app|client)/i.test(message);
  return isApp ? "invalid_client" : `${code}`.toLowerCase();
}

const SETUP_CODES: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "invalid_client_id",
  "invalid_client_secret",
  "bad_client_secret",
  "bad_redirect_uri",
  "redirect_uri_mismatch",
  "unsupported_grant_type",
  "invalid_scope",
]);

const PASSING_CODES: ReadonlySet<string> = new Set([
  "temporarily_unavailable",
  "server_error",
  "internal_error",
  "ratelimited",
  "rate_limited",
  "slow_down",
]);

const GRANT_CODES: ReadonlySet<string> = new Set(["invalid_grant", "invalid_token", "invalid_request"]);

/** `app`: the app is not accepted; `grant`: the code or token is not; `passing`: neither. */
export function judgeRefusal(refusal: Refusal, isBasic: boolean): "app" | "grant" | "passing" {
  const { status, code } = refusal;
  if (SETUP_CODES.has(code)) return "app";
  if (PASSING_CODES.has(code) || status === 429 || status >= 500) return "passing";
  // RFC 6749, 5.2: so is a client refused that named itself in the header.
  if (status === 401 && isBasic && !GRANT_CODES.has(code)) return "app";
  return status === 400 || status === 401 || status < 300 ? "grant" : "passing";
}

const Seconds = z.coerce.number().positive().max(1e10);
const Words = z.union([z.string(), z.array(z.string())]);

const Answer = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().catch(""),
  expires_in: Seconds.nullable().catch(null),
  refresh_token_expires_in: Seconds.nullable().catch(null),
  refresh_expires_in: Seconds.nullable().catch(null),
  scope: Words.nullable().catch(null),
  scopes: Words.nullable().catch(null),
  permissions: Words.nullable().catch(null),
});

/**
 * Tokens as RFC 6749 has them, under `accessToken` and `refreshToken`; seconds may be texts, and scopes a list
 * or divided by commas. Null where there is no access token.
 */
export function readStandardTokens(answer: JsonObject, now: number): Tokens | null {
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) return null;
  const { access_token, refresh_token, ...rest } = parsed.data;
  const at = (seconds: number | null): number | null => (seconds === null ? null : now + seconds * SECOND);
  const { access_token: _access, refresh_token: _refresh, id_token: _id, ...shown } = answer;
  return {
    secrets: { accessToken: access_token, refreshToken: refresh_token },
    expiresAt: at(rest.expires_in),
    renewableUntil: at(rest.refresh_token_expires_in ?? rest.refresh_expires_in),
    scopes: readScopes(rest.scope ?? rest.scopes ?? rest.permissions),
    answer: shown,
  };
}

function readScopes(words: string | string[] | null): readonly string[] | null {
  if (words === null) return null;
  const list = [words]
    .flat()
    .flatMap((part) => part.split(/[\s,]+/))
    .filter((part) => part !== "");
  return list.length === 0 ? null : list;
}
