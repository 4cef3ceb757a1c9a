import { AppError } from "../domain/errors.ts";
import type { Permission } from "../domain/permissions.ts";
import type { ToolAccess } from "../toolkit/toolbox.ts";

/**
 * The tools of these sets alone: a model reads the whole list before its first call. A call of another is
 * refused with where to turn it on.
 */
export function offerSets(toolbox: ToolAccess, sets: readonly Permission[]): ToolAccess {
  return {
    list: (caller) => toolbox.list(caller).filter(({ permission }) => sets.includes(permission)),
    async call(name, args, caller, options) {
      const tool = toolbox.list(caller).find((one) => one.name === name);
      if (tool !== undefined && !sets.includes(tool.permission)) {
        throw new AppError(
          "not_found",
          `The tool ${tool.name} is not offered over MCP: its set "${tool.permission}" is left out. ` +
            `A person can turn it on with POSTHORN_TOOLS=all, or call it over HTTP or with posthorn call.`,
        );
      }
      return toolbox.call(name, args, caller, options);
    },
  };
}
