import type { ToolAnswer } from "./bridge.ts";
import type { Json } from "./json.ts";

/** What surrounds an app: the host of an MCP App, or the server's own page. */
export interface Wire {
  /** Never rejects: what cannot be called answers like a tool that failed. */
  callTool(name: string, args: Json): Promise<ToolAnswer>;
  /** Rejects where it is not opened. */
  openLink(url: string): Promise<unknown>;
  /** The changes of the context. Rejects if there are none. */
  requestMode(mode: "inline" | "fullscreen"): Promise<Json>;
  /** Tells the model, where there is one, what the person did. */
  updateModel(text: string): Promise<unknown>;
}
