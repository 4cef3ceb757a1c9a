import { type ToolAnswer } from "../../shared/bridge.ts";
import type { Json } from "../../shared/json.ts";
import type { Wire } from "../../shared/wire.ts";
import { callTool } from "./wire.ts";
import { sentenceOf } from "../../shared/texts.ts";

/** What a view of an MCP App can do within the page. */
export const PAGE_ABILITIES = { callsTools: true, opensLinks: true, takesContext: false } as const;

/** An answer as the views of MCP Apps take it; a refusal is one too. */
export async function answered(work: Promise<Json>): Promise<ToolAnswer> {
  try {
    return { isError: false, structured: await work, text: "", note: null };
  } catch (error) {
    return { isError: true, structured: null, text: sentenceOf(error), note: null };
  }
}

/** The server's own page around the views of MCP Apps. */
export const pageWire: Wire = {
  callTool: (name, args) => answered(callTool(name, args)),
  openLink: async (url) => window.open(url, "_blank", "noreferrer,noopener"),
  requestMode: async () => ({}),
  updateModel: async () => {},
};
