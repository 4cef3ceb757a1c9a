import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf } from "../../support/described.ts";

/** `message`: the fourth version has a cause beside it. */
export function failure(status: number, error: string, message?: string): OutboundResponse {
  return answerOf(status, { error, ...(message === undefined ? {} : { message }) });
}
