import { isAllowed } from "../domain/permissions.ts";
import type { Toolbox, ToolListing } from "./toolbox.ts";

/** What is listed and called, without the tools themselves. */
export type ToolAccess = Pick<Toolbox, "list" | "call">;

/**
 * Lists tools that are not loaded yet, for callers on this machine. `open` loads them: after the first list has been answered, or
 * with the first call. It is called again and again and must do its work once.
 */
export function createLateToolbox(
  listings: readonly ToolListing[],
  open: () => Promise<ToolAccess>,
): ToolAccess {
  return {
    list(caller) {
      setImmediate(() => void open().catch(() => {}));
      return listings.filter(({ permission }) => isAllowed(caller, permission));
    },
    async call(...call) {
      const toolbox = await open();
      return toolbox.call(...call);
    },
  };
}
