import type { CallToolResult } from "@modelcontextprotocol/server";

export type Block = CallToolResult["content"][number];

/** What MCP shows of a tool and its results beyond what every face does. */
export interface ToolView {
  readonly tool: string;
  /** For hosts that know more than the protocol asks of them, in the list of tools. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** What goes with a result beside its text: pictures, sound, resources. */
  content?(result: Readonly<Record<string, unknown>>): readonly Block[];
}
