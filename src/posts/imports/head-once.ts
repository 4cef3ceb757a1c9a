import { Readable } from "node:stream";
import { SilentHosts } from "../../files/silent-hosts.ts";
import type { Outbound, OutboundResponse } from "../../ports/outbound.ts";

/**
 * Looks at each address once, however many rows name it, and at none of a host that did not answer: thousands of
 * rows would wait for it, one after the other.
 */
export function lookingOnce(outbound: Outbound): Outbound {
  const looks = new Map<string, Promise<OutboundResponse>>();
  const hosts = new SilentHosts(() => 0, Infinity);
  const look = (...args: Parameters<Outbound["request"]>): Promise<OutboundResponse> =>
    hosts.ask(args[0].url, async () => {
      const answer = await outbound.request(...args);
      answer.body.resume();
      return answer;
    });
  return {
    assertAllowed: (...args) => outbound.assertAllowed(...args),
    request: async (request) => {
      if (request.method !== "HEAD") return outbound.request(request);
      const known = looks.get(request.url) ?? look(request);
      looks.set(request.url, known);
      return { ...(await known), body: Readable.from([]) };
    },
  };
}
