import { readBound } from "../../domain/arguments/spoken-times.ts";
import type { Session } from "../host.ts";

function isLeftOut(text: string | undefined): text is undefined | "" {
  return text === undefined || text === "";
}

/** `--from` and `--to`, as lists of the service take them. Throws `invalid`. */
export function readBounds(
  { ctx }: Pick<Session, "ctx">,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): { from?: string; to?: string } {
  const at = { now: ctx.clock.now(), timezone: ctx.settings.timezone };
  return {
    ...(isLeftOut(from) ? {} : { from: readBound(from, { ...at, field: "--from" }) }),
    ...(isLeftOut(to) ? {} : { to: readBound(to, { ...at, field: "--to" }) }),
  };
}
