import { createDocument, type oas31, type ZodOpenApiObject, type ZodOpenApiPathsObject } from "zod-openapi";
import type { Toolbox } from "../../toolkit/toolbox.ts";
import { EVENTS, OTHER_PATHS } from "./openapi-paths.ts";
import { describeRoute, describeTool, ERROR_RESPONSES, type Operation } from "./openapi-operations.ts";
import type { ResourceRoute } from "../api/resource-routes.ts";

type OpenApiDocument = oas31.OpenAPIObject;

export interface OpenApiSource {
  readonly toolbox: Toolbox;
  readonly routes: readonly ResourceRoute[];
  readonly version: string;
}

const INTRODUCTION = `Schedules posts to your channels and publishes each at its time, never twice.

Every action has two forms: a resource endpoint such as \`GET /api/v1/posts\`, and one endpoint for each tool, \`POST /api/v1/tools/<name>\`, which takes the arguments as a JSON object and answers \`{ "result": … }\`. The tools are offered under the same names over MCP.

Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. \`posthorn keys create\` makes one. What belongs to another owner is answered as not found.

A failed request is answered with \`{ "error": "…" }\`: one or two sentences that name the field, the reason and the next step. The checks come in this order: 401, 403, 429, 413, 400, 404, 409.`;

/** The whole API, made from the tools and the route table; valid until one of them changes. */
export function createOpenApi({ toolbox, routes, version }: OpenApiSource): OpenApiDocument {
  const operations: readonly Operation[] = [
    ...routes.map((route) => describeRoute(route, toolbox)),
    ...OTHER_PATHS,
    ...toolbox.tools.map(describeTool),
  ];
  const document = createDocument(describe(version, toPaths(operations)), {
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  return nameJson(document);
}

function describe(version: string, paths: ZodOpenApiPathsObject): ZodOpenApiObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Posthorn",
      version,
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    security: [{ apiKey: [] }],
    tags: [
      { name: "Posts", description: "Schedule, change, cancel and retry posts." },
      { name: "Accounts", description: "The connected channels." },
      { name: "Files", description: "Pictures, videos and sounds of your own." },
      {
        name: "Event webhooks",
        description: "Events sent to addresses of your own, signed after Standard Webhooks.",
      },
      { name: "Service", description: "Platforms, the publisher's state, this description." },
      { name: "Tools", description: "Every action as a tool, under its MCP name." },
    ],
    paths,
    webhooks: EVENTS,
    components: {
      responses: ERROR_RESPONSES,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "An API key: `phk_<id>_<secret>`, or the fixed one of the settings.",
        },
      },
    },
  };
}

function toPaths(operations: readonly Operation[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const { path, method, operation } of operations) paths[path] = { ...paths[path], [method]: operation };
  return paths;
}

/**
 * zod numbers the schema of "any JSON" anew at each use: they are one, and deserve a name. It refers to itself, which
 * generators of types do not get over, so that it says what it is in words.
 */
function nameJson(document: OpenApiDocument): OpenApiDocument {
  const named: OpenApiDocument = JSON.parse(JSON.stringify(document).replaceAll(/__schema\d+/g, "JsonValue"));
  const schemas = named.components?.schemas;
  if (schemas !== undefined && "JsonValue" in schemas)
    schemas["JsonValue"] = { description: "Any JSON value." };
  return named;
}

/** As for tools: no `pattern` beside a `format`, no bounds of "a safe integer", no names that are any text. */
function tidy(jsonSchema: Record<string, unknown>): void {
  if ("format" in jsonSchema) delete jsonSchema["pattern"];
  if ("propertyNames" in jsonSchema) delete jsonSchema["propertyNames"];
  if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) delete jsonSchema["minimum"];
  if (jsonSchema["maximum"] === Number.MAX_SAFE_INTEGER) delete jsonSchema["maximum"];
}
