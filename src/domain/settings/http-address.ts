import * as z from "zod";
import { parseUrl, withoutTrailing } from "../parse-url.ts";

interface AddressRules {
  /** Default: no, because paths are put behind it. */
  readonly mayHaveQuery?: boolean;
}

/** An http(s) address as a setting, without the slashes at its end. */
export function httpAddress(example: string, { mayHaveQuery = false }: AddressRules = {}) {
  return z
    .url({ protocol: /^https?$/, error: `must be an http(s) address, for example ${example}` })
    .refine((text) => isPlain(text, mayHaveQuery), {
      error: `must be without user name${mayHaveQuery ? "" : ", query"} and fragment`,
    })
    .transform((text) => withoutTrailing(text, "/"));
}

/** True also for what is no address at all, which is told already. */
function isPlain(text: string, mayHaveQuery: boolean): boolean {
  const url = parseUrl(text);
  if (url === null) return true;
  const hasQuery = url.search !== "" && !mayHaveQuery;
  return url.username === "" && url.password === "" && !hasQuery && url.hash === "";
}
