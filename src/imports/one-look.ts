import { Readable } from "node:stream";
import { type Outbound, OutboundFailure, type OutboundResponse } from "../ports/outbound.ts";

/**
 * Looks at each address once, however many rows name it, and at none of a host that did not answer: thousands of
 * rows would wait for it, one after the other.
 */
export function lookingOnce(outbound: Outbound): Outbound {
  const looks = new Map<string, Promise<OutboundResponse>>();
  const silent = new Map<string, OutboundFailure>();
  const look = async (...args: Parameters<Outbound["request"]>): Promise<OutboundResponse> => {
    const { host } = new URL(args[0].url);
    const failure = silent.get(host);
    if (failure !== undefined) throw failure;
    try {
      const answer = await outbound.request(...args);
      answer.body.resume();
      return answer;
    } catch (error) {
      if (error instanceof OutboundFailure) silent.set(host, error);
      throw error;
    }
  };
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
