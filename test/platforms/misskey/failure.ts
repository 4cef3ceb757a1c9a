import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf } from "../../support/described.ts";

/** An error as every method of Misskey's answers it. */
export function failure(status: number, code: string, info?: object): OutboundResponse {
  const error = { message: `${code}.`, code, id: "0b5f1631-7c1a-41a6-b399-cce335f34d85", kind: "client" };
  return answerOf(status, { error: { ...error, ...(info === undefined ? {} : { info }) } });
}
