import { AppError } from "../../domain/errors.ts";
import type { Outbound } from "../../ports/outbound.ts";
import type { Sockets } from "../../ports/sockets.ts";
import { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";
import type { OutboundOptions } from "./connector.ts";
import type { HttpClient } from "./http-client.ts";

/** The one way to the network; see `src/ports/outbound.ts`. */
export function createOutbound(options: OutboundOptions): Outbound & Sockets & AsyncDisposable {
  const policy = createAddressPolicy(options.allowedHosts);
  let http: Promise<HttpClient> | null = null;
  // undici and ws take a tenth of a start, so they are loaded with the first request.
  const open = (): Promise<HttpClient> =>
    (http ??= import("./http-client.ts").then(({ openHttpClient }) => openHttpClient(policy, options)));
  return {
    request: async (request) => (await open()).request(request),
    assertAllowed: (field, text, mayBePrivate = false) =>
      assertAllowed(policy, { field, text, mayBePrivate }),
    converse: async (request, work) => (await open()).converse(request, work),
    [Symbol.asyncDispose]: async () => (await http)?.[Symbol.asyncDispose](),
  };
}

function assertAllowed(
  policy: AddressPolicy,
  { field, text, mayBePrivate }: { field: string; text: string; mayBePrivate: boolean },
): URL {
  try {
    return policy.check(text, mayBePrivate).url;
  } catch (error) {
    if (error instanceof AppError) throw error.about(field);
    throw error;
  }
}
