import { AppError } from "../../domain/errors.ts";
import { isWholeText } from "../../domain/whole-text.ts";
import { isAccountId } from "../../accounts/accounts.ts";
import type { AnyTool } from "../../toolkit/define-tool.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { UNKNOWN_PATH_SENTENCE } from "../errors.ts";
import type { BodyRule, JsonObject } from "../json-body.ts";
import type { QueryRules } from "../query.ts";

/** What a request says, before it is a tool's arguments. */
interface RouteInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: JsonObject;
  readonly body: JsonObject;
}

/** One resource endpoint: how a request under `/api/v1` becomes a call of a tool. */
export interface ResourceRoute {
  readonly method: "get" | "post" | "patch" | "delete";
  /** As OpenAPI writes it. */
  readonly path: string;
  readonly summary: string;
  /** Those it may call, of one permission; the first one's answer describes it. */
  readonly tools: readonly [string, ...string[]];
  /** Default: none. */
  readonly body?: BodyRule;
  /** Default: none. */
  readonly query?: QueryRules;
  /** Which of `tools`; default: the first. */
  readonly pick?: (input: RouteInput) => string;
  /** Arguments that hold where the request gives none. */
  readonly defaults?: JsonObject;
  /** Answers the one thing of the tool's list by its own name. */
  readonly only?: { readonly list: string; readonly name: string };
  /** Default 200. */
  readonly success?: {
    readonly status: 201;
    /** Whether this call makes anything; default: each does. */
    readonly isMade?: (args: JsonObject) => boolean;
    readonly location: (result: JsonObject) => string;
  };
}

const POST_FILTERS = {
  accountId: "list",
  provider: "list",
  status: "list",
  search: "text",
  from: "text",
  to: "text",
  limit: "integer",
  cursor: "text",
} as const;

/**
 * Every resource endpoint that is a tool in another form. The OpenAPI description and the tenancy test are
 * made from it.
 */
export const RESOURCE_ROUTES: readonly ResourceRoute[] = [
  {
    method: "get",
    path: "/accounts",
    summary: "Connected channels, with what each platform supports",
    tools: ["list_accounts"],
  },
  {
    method: "get",
    path: "/accounts/{accountId}",
    summary: "One channel",
    tools: ["list_accounts"],
    only: { list: "accounts", name: "account" },
  },
  {
    method: "delete",
    path: "/accounts/{accountId}",
    summary: "Disconnect a channel",
    tools: ["disconnect_channel"],
  },
  {
    method: "get",
    path: "/posts",
    summary: "List posts, a page at a time",
    tools: ["list_posts"],
    query: POST_FILTERS,
    defaults: { limit: 100 },
  },
  {
    method: "post",
    path: "/posts",
    summary: "Schedule a post",
    tools: ["schedule_post"],
    body: "required",
    success: {
      status: 201,
      // A text that says so is taken for it, as everywhere.
      isMade: (args) => String(args["dryRun"]).trim().toLowerCase() !== "true",
      location: (result) => `/api/v1/posts/${idOf(result["post"])}`,
    },
  },
  {
    method: "get",
    path: "/posts/{id}",
    summary: "One post. insights=1 adds its live platform status",
    tools: ["get_post"],
    query: { insights: "flag", history: "flag" },
  },
  {
    method: "patch",
    path: "/posts/{id}",
    summary: "Change a post that is still scheduled",
    tools: ["update_post"],
    body: "required",
  },
  {
    method: "delete",
    path: "/posts/{id}",
    summary:
      "Cancel a post that is still scheduled. fromPlatform=1 also takes down one that is uploaded or live",
    tools: ["cancel_post"],
    query: { fromPlatform: "flag" },
  },
  {
    method: "post",
    path: "/posts/{id}",
    summary:
      "Retry a failed post, with changes where some are given, or set the thumbnail of one on its platform",
    tools: ["retry_post", "set_thumbnail"],
    body: "optional",
    pick: ({ body }) => ("thumbnailUrl" in body ? "set_thumbnail" : "retry_post"),
  },
  {
    method: "get",
    path: "/files",
    summary: "List files, a page at a time",
    tools: ["list_files"],
    query: { search: "text", type: "text", limit: "integer", cursor: "text" },
  },
  {
    method: "delete",
    path: "/files/{id}",
    summary: "Delete a file",
    tools: ["delete_file"],
  },
  {
    method: "get",
    path: "/webhooks",
    summary: "Addresses that are told of events",
    tools: ["list_webhooks"],
  },
  {
    method: "post",
    path: "/webhooks",
    summary: "Have events sent to an address",
    tools: ["create_webhook"],
    body: "required",
    success: { status: 201, location: (result) => `/api/v1/webhooks/${idOf(result["webhook"])}` },
  },
  {
    method: "get",
    path: "/webhooks/{id}",
    summary: "One event webhook and the log of its deliveries, newest first",
    tools: ["list_webhooks"],
    query: { limit: "integer", cursor: "text" },
  },
  {
    method: "delete",
    path: "/webhooks/{id}",
    summary: "Delete an event webhook, its log and what waits for it",
    tools: ["delete_webhook"],
  },
  {
    method: "post",
    path: "/webhooks/{id}/test",
    summary: "Send a signed test now",
    tools: ["test_webhook"],
    body: "optional",
  },
  {
    method: "post",
    path: "/webhooks/{id}/replay",
    summary: "Send one event again, or all since a time",
    tools: ["replay_webhook"],
    body: "required",
  },
  {
    method: "get",
    path: "/platforms",
    summary: "Every platform in short, or those that provider names in full",
    tools: ["list_platforms"],
    query: { provider: "list" },
  },
  {
    method: "get",
    path: "/calendar",
    summary: "The posts of a time window, earliest first",
    tools: ["show_calendar"],
    query: { from: "text", to: "text", accountId: "list", status: "list", limit: "integer" },
  },
  {
    method: "get",
    path: "/status",
    summary: "How the publisher is doing",
    tools: ["get_status"],
  },
];

/**
 * The call a request stands for. Throws `invalid` for a field of the body that the address holds already,
 * `not_found` for an id that is none.
 */
export function toCall(route: ResourceRoute, input: RouteInput): { tool: string; args: JsonObject } {
  const doubled = Object.keys(input.body).find((key) => Object.hasOwn(input.params, key));
  if (doubled !== undefined)
    throw new AppError("invalid", `${doubled}: stands in the address. Leave it out of the body.`);
  const { accountId } = input.params;
  // No id of ours holds what no text may hold. Of a channel tools take the name, too; a path only the id.
  if (!Object.values(input.params).every(isWholeText) || (accountId !== undefined && !isAccountId(accountId)))
    throw new AppError("not_found", UNKNOWN_PATH_SENTENCE);
  const tool = route.pick?.(input) ?? route.tools[0];
  return { tool, args: { ...route.defaults, ...input.query, ...input.body, ...input.params } };
}

/** A route without its tool is a bug of ours and ends the start. */
export function toolOf(route: ResourceRoute, toolbox: Toolbox, name: string): AnyTool {
  const tool = toolbox.tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`${route.path} needs the tool ${name}, which is not there.`);
  return tool;
}

function idOf(value: unknown): string {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  if (typeof id === "string") return id;
  throw new Error("The tool's result has no id to point at.");
}
