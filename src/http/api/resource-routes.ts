import { AppError } from "../../domain/errors.ts";
import { isWholeText } from "../../domain/whole-text.ts";
import { isAccountId } from "../../channels/accounts/accounts.ts";
import type { AnyTool } from "../../toolkit/define-tool.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { UNKNOWN_PATH_SENTENCE } from "../errors.ts";
import { decodeTable, MAX_TABLE_BYTES } from "../../posts/imports/read-table.ts";
import type { BodyRule, JsonObject, RawBody } from "../json-body.ts";
import type { QueryRules } from "../query.ts";

interface RouteInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: JsonObject;
  readonly body: JsonObject;
}

/** One resource endpoint: how a request under `/api/v1` becomes a call of a tool. */
export interface ResourceRoute {
  readonly method: "get" | "post" | "patch" | "delete";
  readonly path: string;
  readonly summary: string;
  /** Those it may call, of one permission; the first one's answer describes it. */
  readonly tools: readonly [string, ...string[]];
  /** Default: none. */
  readonly body?: BodyRule;
  /** A body of another type that may take its place. */
  readonly raw?: RawBody;
  readonly query?: QueryRules;
  /** The one of `tools` that is called where the body gives this field; else the first is. */
  readonly pick?: { readonly field: string; readonly tool: string };
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

const define =
  (method: ResourceRoute["method"]) =>
  (path: string, summary: string, tool: string, more: Partial<ResourceRoute> = {}): ResourceRoute => ({
    method,
    path,
    summary,
    tools: [tool],
    ...more,
  });
const [get, post, patch, remove] = [define("get"), define("post"), define("patch"), define("delete")];

const POST_FILTERS = {
  accountId: "list",
  provider: "list",
  status: "list",
  label: "list",
  draftId: "text",
  search: "text",
  from: "text",
  to: "text",
  limit: "integer",
  cursor: "text",
} as const;

/** Each resource endpoint that is a tool in another form. OpenAPI and the tenancy test are made from it. */
export const RESOURCE_ROUTES: readonly ResourceRoute[] = [
  get("/accounts", "Connected channels, with what each platform supports", "list_accounts"),
  get("/accounts/{accountId}", "One channel", "list_accounts", {
    only: { list: "accounts", name: "account" },
  }),
  patch("/accounts/{accountId}", "Change a channel's slots, pause, name and utm", "update_account", {
    body: "required",
  }),
  remove("/accounts/{accountId}", "Disconnect a channel", "disconnect_channel"),
  get("/posts", "List posts, a page at a time", "list_posts", {
    query: POST_FILTERS,
    defaults: { limit: 100 },
  }),
  post("/posts", "Schedule a post", "schedule_post", {
    body: "required",
    success: {
      status: 201,
      // A text that says so is taken for it, as everywhere.
      isMade: (args) => String(args["dryRun"]).trim().toLowerCase() !== "true",
      location: (result) => `/api/v1/posts/${idOf(result["post"])}`,
    },
  }),
  // Before what takes an id.
  post("/posts/import", "Schedule the posts of a table, all or none", "import_posts", {
    body: "required",
    raw: { type: "text/csv", argument: "csv", maxBytes: MAX_TABLE_BYTES, read: decodeTable },
    query: { dryRun: "flag", timezone: "text", accountId: "text" },
  }),
  get("/posts/{id}", "One post. insights=1 adds its live platform status", "get_post", {
    query: { insights: "flag", history: "flag" },
  }),
  patch("/posts/{id}", "Change a post that is still scheduled", "update_post", { body: "required" }),
  remove(
    "/posts/{id}",
    "Cancel a post that is still scheduled. fromPlatform=1 also takes down one that is uploaded or live",
    "cancel_post",
    { query: { fromPlatform: "flag" } },
  ),
  post(
    "/posts/{id}",
    "Retry a failed post, with changes where some are given, or set the thumbnail of one on its platform",
    "retry_post",
    {
      tools: ["retry_post", "set_thumbnail"],
      body: "optional",
      pick: { field: "thumbnailUrl", tool: "set_thumbnail" },
    },
  ),
  get("/drafts", "List drafts, last changed first", "list_drafts", {
    query: {
      state: "list",
      label: "text",
      accountId: "text",
      search: "text",
      limit: "integer",
      cursor: "text",
    },
  }),
  post("/drafts", "Write a draft", "save_draft", {
    body: "required",
    success: { status: 201, location: (result) => `/api/v1/drafts/${idOf(result["draft"])}` },
  }),
  get("/drafts/{id}", "One draft, with its posts", "list_drafts", {
    only: { list: "drafts", name: "draft" },
  }),
  patch("/drafts/{id}", "Change a draft that is not decided", "save_draft", { body: "required" }),
  post("/drafts/{id}", "Decide about a draft", "decide_draft", { body: "required" }),
  remove("/drafts/{id}", "Discard a draft", "decide_draft", {
    query: { revision: "integer" },
    defaults: { decision: "discard" },
  }),
  get("/files", "List files, a page at a time", "list_files", {
    query: { search: "text", type: "text", limit: "integer", cursor: "text" },
  }),
  remove("/files/{id}", "Delete a file", "delete_file"),
  get("/webhooks", "Addresses that are told of events", "list_webhooks"),
  post("/webhooks", "Have events sent to an address", "create_webhook", {
    body: "required",
    success: { status: 201, location: (result) => `/api/v1/webhooks/${idOf(result["webhook"])}` },
  }),
  get("/webhooks/{id}", "One event webhook and the log of its deliveries, newest first", "list_webhooks", {
    query: { limit: "integer", cursor: "text" },
  }),
  remove("/webhooks/{id}", "Delete an event webhook, its log and what waits for it", "delete_webhook"),
  post("/webhooks/{id}/test", "Send a signed test now", "test_webhook", { body: "optional" }),
  post("/webhooks/{id}/replay", "Send one event again, or all since a time", "replay_webhook", {
    body: "required",
  }),
  get("/platforms", "Every platform in short, or those that provider names in full", "list_platforms", {
    query: { provider: "list" },
  }),
  get("/calendar", "The posts of a time window, earliest first", "show_calendar", {
    query: { from: "text", to: "text", accountId: "list", status: "list", limit: "integer" },
  }),
  get("/report", "What worked: stored figures of published posts", "get_report", {
    query: {
      from: "text",
      to: "text",
      accountId: "list",
      label: "text",
      by: "text",
      metric: "text",
      at: "text",
      limit: "integer",
    },
  }),
  get("/status", "How the publisher is doing", "get_status"),
];

/** The call of a request. Throws `invalid` for a field that the address has, `not_found` for a bad id. */
export function toCall(route: ResourceRoute, input: RouteInput): { tool: string; args: JsonObject } {
  const doubled = Object.keys(input.body).find((key) => Object.hasOwn(input.params, key));
  if (doubled !== undefined)
    throw new AppError("invalid", `${doubled}: stands in the address. Leave it out of the body.`);
  const { accountId } = input.params;
  // No id of ours holds what no text may hold. Of a channel tools take the name, too; a path only the id.
  if (!Object.values(input.params).every(isWholeText) || (accountId !== undefined && !isAccountId(accountId)))
    throw new AppError("not_found", UNKNOWN_PATH_SENTENCE);
  const { tool, body } = pickTool(route, input.body);
  return { tool, args: { ...route.defaults, ...input.query, ...body, ...input.params } };
}

/** A field that null or an empty text leaves out picks nothing, as if it were not there. */
function pickTool({ pick, tools }: ResourceRoute, body: JsonObject): { tool: string; body: JsonObject } {
  if (pick === undefined || !Object.hasOwn(body, pick.field)) return { tool: tools[0], body };
  const { [pick.field]: given, ...rest } = body;
  return given === null || given === "" ? { tool: tools[0], body: rest } : { tool: pick.tool, body };
}

/** What its body takes beside what it has: arguments that do not stand in the address. */
export function fieldsOf(route: ResourceRoute, toolbox: Toolbox, called: string): string[] {
  const tools = called === route.tools[0] ? route.tools : [called];
  const names = tools.flatMap((name) => Object.keys(toolOf(route, toolbox, name).input.shape));
  const inAddress = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  return [...new Set(names)].filter((name) => name !== "confirm" && !inAddress.has(name));
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
