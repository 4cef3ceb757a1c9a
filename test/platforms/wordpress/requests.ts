import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf, describedBy, type Described } from "../../support/described.ts";

/** What the site says of its routes. */
const read = describedBy(new URL("./spec.json", import.meta.url));

/** The request as the site describes it, or what is wrong with it: its route may stand in the query. */
export function receive(request: OutboundRequest, site: string, path: string): Promise<Described | string> {
  const { searchParams } = new URL(request.url);
  searchParams.delete("rest_route");
  return read({ ...request, url: `${site}${path}?${searchParams}` }, site);
}

/** An error in WordPress's form. */
export function refuse(status: number, code: string, data: object = {}): OutboundResponse {
  return answerOf(status, { code, message: "Sorry.", data: { status, ...data } });
}
