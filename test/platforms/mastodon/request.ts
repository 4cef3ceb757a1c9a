import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import { describedBy, type Described } from "../../support/described.ts";

/** Mastodon's own description of the operations that are called; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

/** A request as the server reads it. */
export interface Received extends Described {
  readonly headers: Readonly<Record<string, string>>;
}

const HEADERS: readonly string[] = ["accept", "authorization", "content-type", "content-length"];

/** The request as it is described, or what is wrong with it. */
export async function receive(request: OutboundRequest, server: string): Promise<Received | string> {
  const asked = await read(request, server);
  if (typeof asked === "string") return asked;
  const { headers = {} } = request;
  const known = asked.name === "POST /api/v1/statuses" ? [...HEADERS, "idempotency-key"] : HEADERS;
  const unknown = Object.keys(headers).find((name) => !known.includes(name));
  return unknown === undefined ? { ...asked, headers } : `${asked.name}: header ${unknown}`;
}
