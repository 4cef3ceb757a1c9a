import type { Caller } from "../domain/permissions.ts";
import type { ToolAccess } from "../toolkit/toolbox.ts";
import type { McpContext, PromptKind, ResourceKind, ToolView } from "./kinds.ts";

/** What every MCP transport is built from. */
export interface McpDeps {
  readonly toolbox: ToolAccess;
  readonly ctx: McpContext;
  readonly version: string;
  /** Whether the caller's key is still good: its open streams end when it is not. Left out: it always is. */
  readonly isKeyActive?: (caller: Caller) => Promise<boolean>;
  /** Whether `/sse` and `/messages` are served; default: yes. */
  readonly hasLegacySse?: boolean;
  /** Resources, prompts and views of tools; without them those of the product. */
  readonly resources?: readonly ResourceKind[];
  readonly prompts?: readonly PromptKind[];
  readonly views?: readonly ToolView[];
  /** What is added to the instructions for this connection. Left out: nothing. */
  readonly note?: string;
  /** Where people read about this server. */
  readonly websiteUrl?: string;
}
