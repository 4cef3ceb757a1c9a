import { Readable } from "node:stream";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import type { Answer, Incoming } from "../youtube/answers.ts";
import { toWire } from "../youtube/fake.ts";

/** The way out, at whose end a fake answers; a body that breaks off breaks the request. */
export function doorTo(answerTo: (request: Incoming) => Promise<Answer>): Outbound {
  return {
    assertAllowed: (_field, url) => new URL(url),
    async request(request) {
      const answer = await answerTo(toIncoming(request)).catch((cause: unknown) => {
        throw new OutboundFailure("The body broke off.", true, { cause });
      });
      return { ...toWire(answer), url: request.url };
    },
  };
}

function toIncoming({ method, url, headers = {}, body }: OutboundRequest): Incoming {
  const whole = body === undefined ? [] : typeof body === "string" ? [Buffer.from(body)] : body;
  return {
    method,
    url: new URL(url),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: Buffer.isBuffer(whole) ? Readable.from([whole]) : Readable.from(whole),
  };
}
