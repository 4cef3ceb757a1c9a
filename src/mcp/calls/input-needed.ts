import { inputRequired, type InputRequests, type InputRequiredResult } from "@modelcontextprotocol/server";

/**
 * Ends a call that needs an answer from the client first, which then calls again; clients with sessions are
 * asked meanwhile.
 */
export class InputNeeded extends Error {
  readonly result: InputRequiredResult;

  constructor(inputRequests: InputRequests, requestState: string) {
    super("An answer of the client is needed.");
    this.name = "InputNeeded";
    this.result = inputRequired({ inputRequests, requestState });
  }
}
