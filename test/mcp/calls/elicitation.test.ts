import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import { expect, it } from "vitest";
import { Elicitation } from "../../../src/mcp/calls/elicitation.ts";
import { callerOf, createTestContext } from "../../support/context.ts";

it.each([
  [
    "that they leave open until it is too late",
    new SdkError(SdkErrorCode.RequestTimeout, "Too late"),
    "closed",
  ],
  ["that the client cannot show", new Error("The window is gone"), "failed"],
] as const)("tells a question %s from another", async (_what, error, consent) => {
  await using ctx = await createTestContext();
  const mcpReq = { signal: new AbortController().signal, send: () => Promise.reject(error) };
  const server = {
    getNegotiatedProtocolVersion: () => "2025-06-18",
    getClientCapabilities: () => ({ elicitation: {} }),
  };
  const from: any = { server, context: { mcpReq }, caller: callerOf(), name: "erase" };
  const { ask } = new Elicitation(ctx, from).confirmation();
  expect(await ask?.({ text: "Erase it?", token: "" })).toBe(consent);
});
