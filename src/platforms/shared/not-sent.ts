import { PlatformFault } from "../../ports/platform-io.ts";

/**
 * For what fails before anybody could see anything: it may be tried again without a question, and leaves the
 * step as one that was not sent.
 */
export function asNotSent(error: unknown): unknown {
  if (!(error instanceof PlatformFault) || (error.kind !== "transient" && error.kind !== "ambiguous"))
    return error;
  const { sentence, says, httpStatus, cause } = error;
  const details = { cause, says, ...(httpStatus === null ? {} : { httpStatus }) };
  return new PlatformFault("not_sent", sentence, details);
}
