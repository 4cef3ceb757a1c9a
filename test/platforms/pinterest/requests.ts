import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { z } from "zod";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";

const Schema = z.record(z.string(), z.json());
const Spec = z.object({
  operations: z.record(
    z.string(),
    z.object({ scopes: z.array(z.string()), query: Schema, body: Schema.optional() }),
  ),
});

/** Pinterest's own description of the operations that are called; the file names its source. */
const { operations } = Spec.parse(JSON.parse(readFileSync(new URL("./spec.json", import.meta.url), "utf8")));

const compile = (schema: object, coerceTypes: boolean): ValidateFunction => {
  const ajv = new Ajv({ strict: false, coerceTypes });
  addFormats.default(ajv);
  return ajv.compile(schema);
};

const OPERATIONS = Object.entries(operations).map(([name, { scopes, query, body }]) => {
  const [method = "", path = ""] = name.split(" ");
  return {
    name,
    method,
    pattern: new RegExp(`^/v5${path.replaceAll(/\{\w+\}/g, "(\\w+)")}$`),
    scopes,
    query: compile(query, true),
    body: body === undefined ? null : compile(body, false),
  };
});

export interface PinterestRequest {
  /** As the description has it: "POST /pins". */
  readonly name: string;
  /** What stands in the path. */
  readonly id: string;
  /** The second of two. */
  readonly other: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: any;
  readonly scopes: readonly string[];
}

/** The request as it is described, or what is wrong with it. */
export function readRequest(request: OutboundRequest, bytes: Buffer): PinterestRequest | string {
  const url = new URL(request.url);
  const found = OPERATIONS.find(
    ({ method, pattern }) => method === request.method && pattern.test(url.pathname),
  );
  if (found === undefined) return `There is no ${request.method} ${url.pathname}.`;
  const query: Record<string, unknown> = Object.fromEntries(url.searchParams);
  if (!found.query(query)) return `Invalid query: ${JSON.stringify(found.query.errors)}`;
  const isJson = request.headers?.["content-type"] === "application/json";
  if ((found.body !== null) !== isJson || (found.body === null && bytes.length > 0)) return "Invalid type.";
  const body: unknown = isJson ? JSON.parse(bytes.toString("utf8")) : null;
  if (found.body !== null && !found.body(body)) return `Invalid body: ${JSON.stringify(found.body.errors)}`;
  const [, id = "", other = ""] = found.pattern.exec(url.pathname) ?? [];
  return { name: found.name, id, other, query, body, scopes: found.scopes };
}
