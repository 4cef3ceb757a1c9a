import { z } from "zod";
import { AppError } from "../../../src/domain/errors.ts";
import type { CallContext, CallingClient } from "../../../src/context.ts";
import { defineTool, type AnyTool } from "../../../src/toolkit/define-tool.ts";

const Said = z.object({ text: z.string() });

type Handle<I extends z.ZodObject> = (args: z.output<I>, call: CallContext) => Promise<string>;

/** A tool that the suite calls by its name, and that answers a text. */
export function fixture<I extends z.ZodObject>(name: string, input: I, handle: Handle<I>): AnyTool {
  return defineTool({
    name,
    title: name,
    description: "Shows one trait of the protocol to its conformance suite.",
    permission: "read",
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    input,
    output: Said,
    handle: async (args, call) => ({ text: await handle(args, call) }),
  });
}

export const NOTHING = z.strictObject({});

/** A tool that cannot work unless the client is asked something. */
export function askingFixture(name: string, handle: (client: CallingClient) => string): AnyTool {
  return fixture(name, NOTHING, async (_args, call) => handle(clientOf(call)));
}

export function clientOf({ client }: CallContext): CallingClient {
  if (client === undefined)
    throw new AppError("conflict", "This tool asks the program that calls it: call it over MCP.");
  return client;
}

/** Flat fields of a form. */
export function form(message: string, properties: Readonly<Record<string, object>>) {
  return {
    kind: "form",
    message,
    schema: { type: "object", properties, required: Object.keys(properties) },
  } as const;
}
