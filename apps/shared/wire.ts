import type { ToolAnswer } from "./bridge.ts";
import type { Json } from "./json.ts";

/** What an app needs of what is around it: the host of an MCP App, or the server's own page. */
export interface Wire {
  /** Never rejects: what cannot be called answers like a tool that failed. */
  callTool(name: string, args: Json): Promise<ToolAnswer>;
  /** Rejects where it is not opened. */
  openLink(url: string): Promise<unknown>;
  /** What changed of the context. Rejects where nothing did. */
  requestMode(mode: "inline" | "fullscreen"): Promise<Json>;
  /** Tells the model, where there is one, what the person did. */
  updateModel(text: string): Promise<unknown>;
}
