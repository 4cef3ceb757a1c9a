import * as z from "zod";
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import type { AnyTool } from "../../toolkit/define-tool.ts";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import type { QueryKind } from "../query.ts";
import { type ResourceRoute, toolOf } from "../api/resource-routes.ts";

export interface Operation {
  readonly path: string;
  readonly method: ResourceRoute["method"] | "put";
  readonly operation: ZodOpenApiOperationObject;
}

const TAGS: Readonly<Record<string, string>> = {
  posts: "Posts",
  accounts: "Accounts",
  files: "Files",
  webhooks: "Event webhooks",
  tools: "Tools",
};

const KEY_HEADER = z.object({
  "Idempotency-Key": z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      "Any string of yours. A repeated request with it is done once and answered the same (24 hours).",
    ),
});

const WAIT_HEADER = KEY_HEADER.extend({
  Prefer: z
    .string()
    .optional()
    .describe(
      "wait=N: the answer comes when what is sent at once is out or has failed, at the latest after N seconds (up to 30).",
    ),
});

function headersOf({ untilOut }: AnyTool): z.ZodObject {
  return untilOut === undefined ? KEY_HEADER : WAIT_HEADER;
}

export function answer(schema: z.ZodType, description = "Done.") {
  return { description, content: { "application/json": { schema } } };
}

export function body(
  schema: z.ZodType,
  example: Record<string, unknown>,
  others: ZodOpenApiRequestBodyObject["content"] = {},
): ZodOpenApiRequestBodyObject {
  return { required: true, content: { "application/json": { schema, example }, ...others } };
}

export function describeRoute(route: ResourceRoute, toolbox: Toolbox): Operation {
  const tool = toolOf(route, toolbox, route.tools[0]);
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  const { success, query = {}, defaults } = route;
  const schema = answerOf(route, tool);
  const location = { Location: { description: "Where it is found.", schema: { type: "string" as const } } };
  const parameters = Object.entries(query).map(([name, kind]) => [
    name,
    parameter(tool, { name, kind, fallback: defaults?.[name] }),
  ]);
  return describePath(route.method, route.path, {
    summary: route.summary,
    description: `Needs the permission \`${tool.permission}\`. The same as \`${route.tools.join("` or `")}\`.`,
    requestParams: {
      path: z.object(Object.fromEntries(names.map((name) => [name, required(fieldOf(tool, name))]))),
      query: z.object(Object.fromEntries(parameters)),
      ...(!tool.hints.readOnly && { header: headersOf(tool) }),
    },
    ...((route.body ?? "none") === "none" ? {} : { requestBody: bodyOf(route, toolbox, names) }),
    responses: {
      ...(success === undefined
        ? { "200": answer(schema) }
        : { "201": { ...answer(schema, "Made."), headers: location } }),
      ...(success?.isMade && { "200": answer(schema, "Nothing was made: it was a dry run.") }),
      ...FAILURES,
    } as ZodOpenApiResponsesObject,
  });
}

/** A route below `/api/v1`, which names the operation and its group. */
export function describePath(
  method: Operation["method"],
  path: string,
  { summary = "", description = "", ...rest }: ZodOpenApiOperationObject,
): Operation {
  const tags = [TAGS[path.split("/")[1] ?? ""] ?? "Service"];
  const texts = { summary, ...(description !== "" && { description }) };
  return {
    path: `/api/v1${path}`,
    method,
    operation: { operationId: nameOf(method, path), ...texts, tags, ...rest },
  };
}

function answerOf({ only }: ResourceRoute, { output }: AnyTool): z.ZodType {
  if (only === undefined) return output;
  const list = (output.shape as z.ZodRawShape)[only.list];
  if (!(list instanceof z.ZodArray)) throw new Error(`The list ${only.list} is not there.`);
  return z.strictObject({ [only.name]: list.element as z.ZodType });
}

export function describeTool(tool: AnyTool): Operation {
  return {
    path: `/api/v1/tools/${tool.name}`,
    method: "post",
    operation: {
      operationId: tool.name,
      summary: tool.title,
      // The example stands beside the body.
      description: `${tool.description.replace(EXAMPLE, "")}\n\n${permissionOf(tool)}`,
      tags: ["Tools"],
      ...(!tool.hints.readOnly && { requestParams: { header: headersOf(tool) } }),
      requestBody: {
        required: true,
        content: { "application/json": { schema: tool.input, ...exampleOf(tool, []) } },
      },
      responses: {
        "200": answer(z.strictObject({ result: tool.output })),
        ...FAILURES,
      },
    },
  };
}

/** `getPostsById`, `postPosts`, … */
function nameOf(method: string, path: string): string {
  const words = path.replaceAll("{", "by/").split(/[/}]/);
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** What stands in a path is always given, also where the tool can do without. */
function required(field: z.ZodType): z.ZodType {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
  return inner instanceof z.ZodType ? inner.describe(field.description ?? "") : field;
}

function fieldOf(tool: AnyTool, name: string): z.ZodType {
  const shape: Readonly<Record<string, z.ZodType>> = tool.input.shape;
  const field = shape[name];
  if (field === undefined) throw new Error(`The tool ${tool.name} has no argument ${name}.`);
  return field;
}

/** A tool's argument as it stands in an address. */
function parameter(
  tool: AnyTool,
  { name, kind, fallback }: { name: string; kind: QueryKind; fallback: unknown },
): z.ZodType {
  const field = fieldOf(tool, name);
  let text = field.description ?? "";
  switch (kind) {
    case "text":
      return field;
    case "integer":
      return fallback === undefined ? field : withDefault(field, fallback).describe(text);
    case "list":
      text += `${choicesOf(field)} Several are separated by commas.`;
      return z.string().optional().describe(text);
    case "flag":
      return z.enum(["1", "0"]).optional().describe(text);
  }
}

/** The values a list may hold, which a comma list in a schema of its own cannot say. */
function choicesOf(field: z.ZodType): string {
  const list = field instanceof z.ZodOptional ? field.unwrap() : field;
  const item = list instanceof z.ZodArray ? list.element : null;
  return item instanceof z.ZodEnum ? ` One of \`${item.options.join("`, `")}\`.` : "";
}

function withDefault(field: z.ZodType, value: unknown): z.ZodType {
  const inner = field instanceof z.ZodDefault ? field.unwrap() : field;
  return inner instanceof z.ZodType ? inner.default(value) : field;
}

/** The arguments of every tool that it may call. */
function bodyOf(
  route: ResourceRoute,
  toolbox: Toolbox,
  names: readonly string[],
): ZodOpenApiRequestBodyObject {
  const tools = route.tools.map((name) => toolOf(route, toolbox, name));
  const fields = tools.flatMap((tool) => Object.entries(tool.input.shape as z.ZodRawShape));
  const input = z.strictObject(Object.fromEntries(fields.filter(([name]) => !names.includes(name))));
  const required = route.body === "required";
  const example = exampleOf(toolOf(route, toolbox, route.tools[0]), names);
  return {
    required,
    content: {
      "application/json": { schema: required ? input : input.partial(), ...example },
      ...(route.raw === undefined ? {} : { [route.raw.type]: { schema: z.string() } }),
    },
  };
}

const EXAMPLE = / ?Example: (\{.*\})\.?/s;

/** Each tool's description ends with an example of its arguments. */
function exampleOf(tool: AnyTool, without: readonly string[]): { example?: Record<string, unknown> } {
  const text = EXAMPLE.exec(tool.description)?.[1];
  if (text === undefined) return {};
  const example: Record<string, unknown> = JSON.parse(text);
  return { example: Object.fromEntries(Object.entries(example).filter(([name]) => !without.includes(name))) };
}

const ErrorBody = z
  .strictObject({ error: z.string().describe("The field, the reason and the next step, in plain words.") })
  .meta({ id: "Error", examples: [{ error: "limit: must be at most 500." }] });

const ERRORS = {
  "400": ["Invalid", "The request is invalid. The error says which field and why."],
  "401": ["Unauthenticated", "There is no valid API key."],
  "403": ["Forbidden", "The key lacks the permission, or the request comes from a foreign web page."],
  "404": ["NotFound", "Not found, or belongs to someone else."],
  "409": ["Conflict", "The state does not allow it now."],
  "413": ["TooLarge", "The body is over its limit."],
  "429": [
    "RateLimited",
    "More requests than the key may make in a minute. `Retry-After` says when to go on.",
  ],
  "500": ["Failed", "A fault of the server. Its log has the details under the request's id."],
  "503": ["Unavailable", "The platform cannot be connected yet, or is out of reach."],
  "507": ["DiskFull", "The disk of the server has no space for the file."],
} as const;

type ErrorStatus = keyof typeof ERRORS;

export const ERROR_RESPONSES = Object.fromEntries(
  Object.values(ERRORS).map(([name, description]) => [
    name,
    { description, content: { "application/json": { schema: ErrorBody } } },
  ]),
);

export function failures(...statuses: ErrorStatus[]): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${ERRORS[status][0]}` }]),
  );
}

export const FAILURES = failures(...(Object.keys(ERRORS) as ErrorStatus[]));

function permissionOf({ permission, lesser }: AnyTool): string {
  const some = lesser === undefined ? "" : `, or \`${lesser.permission}\` ${lesser.way}`;
  return `Needs the permission \`${permission}\`${some}.`;
}
