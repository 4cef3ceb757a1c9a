import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { answer } from "../misskey/door.ts";

/** `message`: the fourth version has a cause beside it. */
export function failure(status: number, error: string, message?: string): OutboundResponse {
  return answer(status, { error, ...(message === undefined ? {} : { message }) });
}
