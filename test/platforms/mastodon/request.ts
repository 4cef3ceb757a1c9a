import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";

interface Operation {
  readonly query?: { readonly properties: Record<string, object>; readonly required: readonly string[] };
  readonly headers?: readonly string[];
  readonly body?: Record<
    string,
    { oneOf?: { properties: object; required: string[] }[]; properties: object }
  >;
  readonly security?: readonly Record<string, readonly string[]>[];
}

const { operations }: { operations: Record<string, Operation> } = JSON.parse(
  readFileSync(new URL("./spec.json", import.meta.url), "utf8"),
);

const ajv = new Ajv2020({ strict: false, coerceTypes: false });

/** A request as the server reads it. */
export interface Received {
  readonly operation: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of a form or of JSON. */
  readonly fields: Record<string, unknown>;
  readonly files: ReadonlyMap<string, { readonly type: string; readonly size: number }>;
}

/** Which operation of the description it is; null for none. */
export function operationOf(method: string, path: string): { operation: string; id: string } | null {
  for (const operation of Object.keys(operations)) {
    const [verb = "", template = ""] = operation.split(" ");
    const pattern = new RegExp(`^${template.replaceAll(".", "\\.").replace("{id}", "([^/]+)")}$`);
    const match = pattern.exec(path);
    // /accounts/verify_credentials and the like are no ids.
    if (verb === method && match !== null) return { operation, id: decodeURIComponent(match[1] ?? "") };
  }
  return null;
}

/** The scopes that the description asks for. */
export function scopesOf(operation: string): readonly string[] {
  return (operations[operation]?.security ?? []).flatMap((one) => Object.values(one).flat());
}

/*
 * Where the description, which is generated from prose, is wrong by the documents and the server's code:
 * redirect_uris is a text or a list; token and revoke take forms; PUT takes media_attributes, as a list of objects,
 * and multipart bodies.
 */
const ATTRIBUTES = {
  type: "array",
  items: {
    type: "object",
    properties: { id: { type: "string" }, description: { type: "string" } },
    required: ["id"],
    additionalProperties: false,
  },
};
const ALSO: Readonly<Record<string, object>> = {
  "POST /api/v1/apps": { redirect_uris: { type: ["string", "array"], items: { type: "string" } } },
  "PUT /api/v1/statuses/{id}": { media_attributes: ATTRIBUTES },
};
const FORMS: readonly string[] = ["POST /oauth/token", "POST /oauth/revoke"];
const GRANTS: Readonly<Record<string, readonly string[]>> = {
  "POST /oauth/token": ["refresh_token"],
  "POST /api/v1/statuses": ["content_type"],
  "PUT /api/v1/statuses/{id}": ["content_type"],
};

/** Reads a request and notes what the description does not know of it. */
export async function receive(
  request: OutboundRequest,
  note: (wrong: string) => void,
): Promise<Received | null> {
  const url = new URL(request.url);
  const found = operationOf(request.method, url.pathname);
  if (found === null) return null;
  const { operation } = found;
  const spec = operations[operation] ?? {};
  const wrong = (what: string): void => note(`${operation}: ${what}`);
  const headers = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const known = ["accept", "authorization", "content-type", "content-length", ...(spec.headers ?? [])];
  for (const name of Object.keys(headers)) if (!known.includes(name)) wrong(`header ${name}`);
  for (const name of url.searchParams.keys())
    if (!Object.hasOwn(spec.query?.properties ?? {}, name)) wrong(`query ${name}`);
  const { fields, files } = await readBody(request, headers["content-type"] ?? "");
  checkBody({ operation, spec, type: headers["content-type"] ?? "", fields }, wrong);
  return { ...found, query: url.searchParams, headers, fields, files };
}

async function readBody(request: OutboundRequest, type: string): Promise<Pick<Received, "fields" | "files">> {
  const { body } = request;
  const files = new Map<string, { type: string; size: number }>();
  if (body === undefined) return { fields: {}, files };
  const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body);
  if (type.startsWith("application/json")) return { fields: JSON.parse(bytes.toString()), files };
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form) {
    if (typeof value !== "string") files.set(name, { type: value.type, size: value.size });
    else if (name === "media_ids[]")
      fields["media_ids"] = [...((fields["media_ids"] as string[]) ?? []), value];
    else fields[name] = value;
  }
  return { fields, files };
}

interface Body {
  readonly operation: string;
  readonly spec: Operation;
  readonly type: string;
  readonly fields: Record<string, unknown>;
}

function checkBody({ operation, spec, type, fields }: Body, wrong: (what: string) => void): void {
  const [[described, schema] = []] = Object.entries(spec.body ?? {});
  if (described === undefined || schema === undefined) {
    if (type !== "") wrong(`a body of ${type}`);
    return;
  }
  const isMultipartPut = operation.startsWith("PUT ") && type.startsWith("multipart/form-data");
  const wanted = FORMS.includes(operation) ? "application/x-www-form-urlencoded" : described;
  if (!type.startsWith(wanted) && !isMultipartPut) wrong(`a body of ${type}`);
  if (type.startsWith("multipart/")) return;
  const variants = schema.oneOf ?? [schema as { properties: object; required?: string[] }];
  const also = Object.fromEntries((GRANTS[operation] ?? []).map((name) => [name, { type: "string" }]));
  const properties = Object.assign({}, ...variants.map((one) => one.properties), ALSO[operation], also);
  // Refresh requests have no code.
  const anyOf = variants.map(({ required = [] }) => ({
    required: fields["grant_type"] === "refresh_token" ? ["client_id", "client_secret"] : required,
  }));
  const validate = ajv.compile({ type: "object", properties, additionalProperties: false, anyOf });
  if (!validate(fields)) wrong(ajv.errorsText(validate.errors));
}
