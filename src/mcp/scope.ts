import type { Caller } from "../domain/permissions.ts";
import type { AppContext } from "../services/context.ts";
import type { ToolAccess } from "../toolkit/toolbox.ts";

/** What the MCP face needs of the context. */
export type McpContext = Pick<AppContext, "clock" | "log" | "cipher" | "store"> & {
  readonly settings: Pick<AppContext["settings"], "timezone">;
};

/**
 * Whose eyes resources, prompts and completions are read with. Data comes through the toolbox, so that its
 * checks hold here too.
 */
export interface Scope {
  readonly toolbox: ToolAccess;
  readonly ctx: McpContext;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** A value that a person may be offered while they type. */
export interface Suggestion {
  readonly value: string;
  /** What they may type instead of the value: a name, where the value is an id. */
  readonly name?: string;
}
