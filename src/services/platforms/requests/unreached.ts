import type { OutboundFailure, Unreachable } from "../../../ports/outbound.ts";
import { PlatformFault } from "../../../ports/platform-io.ts";

const WHY: Readonly<Record<Unreachable, (host: string) => string>> = {
  offline: () => "this machine has no network, it seems",
  unknown_name: (host) => `no server of the name ${host} is found`,
  refused: (host) => `nothing listens at ${host}`,
  silent: (host) => `${host} does not answer`,
  certificate: (host) => `the certificate of ${host} is not valid`,
};

/** The fault for a request that did not leave this machine, with what is known of why. */
export function unreached(title: string, url: string, cause: OutboundFailure): PlatformFault {
  const why = cause.reason === null ? "" : `: ${WHY[cause.reason](new URL(url).host)}`;
  return new PlatformFault("not_sent", `${title} could not be reached${why}.`, { cause });
}
