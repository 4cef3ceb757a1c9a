import { AppError } from "../domain/errors.ts";
import type { Permission } from "../domain/permissions.ts";
import type { ToolAccess } from "../toolkit/toolbox.ts";

/** Only the tools of these sets: a model reads the whole list first. */
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
