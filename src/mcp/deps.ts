import type { AppContext } from "../services/context.ts";
import type { Toolbox } from "../toolkit/toolbox.ts";

/** What every MCP transport is built from. */
export interface McpDeps {
  readonly toolbox: Toolbox;
  readonly ctx: Pick<AppContext, "clock" | "log" | "cipher">;
  readonly version: string;
  /** Where people read about this server. */
  readonly websiteUrl?: string;
}
