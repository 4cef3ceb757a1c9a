import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { answerOf, type Described } from "../../support/described.ts";

export interface Answer {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The way out, behind which one platform alone answers; nothing leaves the process. */
export function createFakeDoor(
  origin: string,
  read: (request: OutboundRequest) => Promise<Described | string>,
  answer: (asked: Described | string, request: OutboundRequest) => Answer,
): Outbound & { readonly requests: OutboundRequest[] } {
  const requests: OutboundRequest[] = [];
  return {
    requests,
    assertAllowed: (_field, url) => new URL(url),
    async request(request) {
      if (new URL(request.url).origin !== origin) throw new OutboundFailure("Nobody is there.", false);
      requests.push(request);
      const { status, json, headers } = answer(await read(request), request);
      return { ...answerOf(status, json, headers), url: request.url };
    },
  };
}
