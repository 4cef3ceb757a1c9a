import spec from "./spec.json" with { type: "json" };

/** Errors that any method may give, beside its own. */
const COMMON = [
  ...["invalid_auth", "not_authed", "token_revoked", "account_inactive", "missing_scope", "ratelimited"],
  ...["internal_error", "fatal_error", "invalid_arguments"],
];

/** Throws for an error that the documentation does not have: the fake must not invent any. */
export function known(method: string, error: string): string {
  const [code = ""] = error.split(" ");
  const own: Readonly<Record<string, readonly string[]>> = spec.errors;
  if (COMMON.includes(code) || own[method]?.includes(code) === true) return error;
  throw new Error(`${method} has no error ${code}.`);
}
