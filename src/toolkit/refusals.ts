import { AppError } from "../domain/errors.ts";
import { type RoleWay, say } from "../domain/sentences.ts";
import { isFields } from "../domain/explain-invalid.ts";
import { type Caller, isAllowed, type Permission, requirePermission } from "../domain/permissions.ts";
import type { AnyTool } from "./define-tool.ts";

/** A way on, by the tool that it needs. */
type Way = readonly [tool: string, way: RoleWay];

/** What a connection is for, by the first of these permissions that it has. */
const ROLES: readonly (readonly [Permission, string])[] = [
  ["publish", "schedules posts"],
  ["draft", "writes drafts"],
  ["read", "only reads"],
];

const DRAFT: Way = ["save_draft", "draft"];
const DECIDED: Way = ["list_drafts", "decided"];
const PLANNED: Way = ["list_posts", "planned"];

/** By the permission that is missing. */
const WAYS: Readonly<Record<Permission, readonly Way[]>> = {
  read: [],
  draft: [DECIDED],
  publish: [PLANNED],
  accounts: [["list_accounts", "channels"]],
  files: [["list_files", "files"]],
  admin: [["get_status", "status"]],
};

/** Where one permission has several ways. */
const WAYS_OF_TOOLS: Readonly<Record<string, readonly Way[]>> = {
  schedule_post: [DRAFT, PLANNED],
  schedule_posts: [DRAFT, PLANNED],
  import_posts: [DRAFT, PLANNED],
  decide_draft: [DECIDED],
};

/** Whether what the tool would do can wait as a draft. */
export function canBeDraft(tool: string): boolean {
  return WAYS_OF_TOOLS[tool]?.includes(DRAFT) === true;
}

/**
 * Throws `forbidden` unless the caller may call the tool, in the caller's terms: a key lacks a permission, a
 * connection has a role and its own ways. `offered`: the tools that it is shown.
 */
export function requireTool(
  tool: AnyTool,
  caller: Caller,
  { offered, args }: { readonly offered: readonly string[]; readonly args: unknown },
): void {
  if (isAllowed(caller, tool.permission)) return;
  const { lesser } = tool;
  const isLesser = lesser !== undefined && isAllowed(caller, lesser.permission);
  if (isLesser && isFields(args) && lesser.fits(args)) return;
  if (!caller.isLocal && caller.isProgram !== true)
    return requirePermission(
      caller,
      tool.permission,
      `call ${tool.name}${isLesser ? ` (${lesser.way} it may)` : ""}`,
    );
  const ways = WAYS_OF_TOOLS[tool.name] ?? WAYS[tool.permission];
  const [, way = "none"] = ways.find(([name]) => offered.includes(name)) ?? [];
  const [, role = "has other work"] = ROLES.find(([permission]) => isAllowed(caller, permission)) ?? [];
  throw new AppError(
    "forbidden",
    say(`This assistant ${role}.`, {
      next: [{ do: "stay_in_role", way, only: isLesser ? [tool.name, lesser.way] : null }],
    }),
  );
}
