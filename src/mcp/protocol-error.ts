import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { AppError, sentenceOf, type ErrorKind } from "../domain/errors.ts";
import type { McpContext } from "./kinds.ts";

/** Where there is no result to say it in: resources, prompts and completions. */
const CODES: Readonly<Record<ErrorKind, ProtocolErrorCode>> = {
  invalid: ProtocolErrorCode.InvalidParams,
  not_found: ProtocolErrorCode.InvalidParams,
  unauthenticated: ProtocolErrorCode.InvalidRequest,
  forbidden: ProtocolErrorCode.InvalidRequest,
  conflict: ProtocolErrorCode.InvalidRequest,
  too_large: ProtocolErrorCode.InvalidRequest,
  rate_limited: ProtocolErrorCode.InternalError,
  unavailable: ProtocolErrorCode.InternalError,
};

/** Answers what went wrong with the sentence that every face says. `uri`: what was looked for. */
export async function orProtocolError<T>(
  { log }: Pick<McpContext, "log">,
  work: Promise<T>,
  uri?: string,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (!(error instanceof AppError)) {
      log.error({ err: error }, "An MCP request failed for a reason of ours");
      throw new ProtocolError(ProtocolErrorCode.InternalError, sentenceOf(error));
    }
    if (error.kind === "not_found" && uri !== undefined) throw new ResourceNotFoundError(uri, error.message);
    throw new ProtocolError(CODES[error.kind], error.message);
  }
}
