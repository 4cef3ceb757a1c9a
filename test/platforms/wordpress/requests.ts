import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf } from "../../support/described.ts";

type Schema = { type?: string | string[]; enum?: string[]; items?: Schema };

/** What the site says of its routes. */
const { operations }: { operations: Record<string, Record<string, Schema>> } = JSON.parse(
  readFileSync(new URL("./spec.json", import.meta.url), "utf8"),
);

/** Arguments of every route. */
const GLOBAL: Record<string, Schema> = { _fields: { type: "string" }, rest_route: { type: "string" } };

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** A request as WordPress reads it. */
export interface Received {
  readonly operation: string;
  readonly id: number;
  readonly fields: Record<string, any>;
  readonly file: File | null;
}

/** Which route it is; null for none. */
export function operationOf(method: string, path: string): { operation: string; id: number } | null {
  const id = /\/(\d+)$/.exec(path)?.[1];
  const operation = `${method} ${id === undefined ? path : path.replace(/\d+$/, "{id}")}`;
  return Object.hasOwn(operations, operation) ? { operation, id: Number(id ?? 0) } : null;
}

/** Reads a request and notes what the site's own description does not know of it. */
export async function receive(
  request: OutboundRequest,
  path: string,
  note: (wrong: string) => void,
): Promise<Received | null> {
  const found = operationOf(request.method, path);
  if (found === null) return null;
  const wrong = (what: string): void => note(`${found.operation}: ${what}`);
  const known = { ...operations[found.operation], ...GLOBAL };
  const query = [...new URL(request.url).searchParams].map(
    ([name, value]) => [name, fromText(value, known[name])] as const,
  );
  const { body, file } = await readBody(request, known, wrong);
  const fields = { ...Object.fromEntries(query), ...body };
  for (const [name, value] of Object.entries(fields)) {
    const schema = known[name];
    if (schema === undefined) wrong(`knows no ${name}`);
    // A text stands for { raw } in titles and the like.
    else if (schema.type === "object" && typeof value === "string") continue;
    else if (!ajv.validate(schema, value)) wrong(`${name}: ${ajv.errorsText()}`);
  }
  return { ...found, fields, file };
}

/** Of a query or a form, by the type that is wanted. */
function fromText(text: string, schema: Schema | undefined): unknown {
  const types = [schema?.type ?? []].flat();
  if (types.includes("array")) return text.split(",").map((one) => fromText(one, schema?.items));
  if (types.includes("integer") && /^\d+$/.test(text)) return Number(text);
  if (types.includes("boolean") && /^(true|false)$/.test(text)) return text === "true";
  return text;
}

async function readBody(
  request: OutboundRequest,
  known: Record<string, Schema>,
  wrong: (what: string) => void,
): Promise<{ body: Record<string, unknown>; file: File | null }> {
  const headers = new Headers(request.headers);
  const type = headers.get("content-type") ?? "";
  if (request.body === undefined) return { body: {}, file: null };
  const bytes = request.body instanceof Readable ? await buffer(request.body) : Buffer.from(request.body);
  if (type === "application/json") return { body: JSON.parse(bytes.toString()), file: null };
  if (!type.startsWith("multipart/form-data")) wrong(`a body of ${type}`);
  if (Number(headers.get("content-length")) !== bytes.length) wrong("a body of unknown length");
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
  const body: Record<string, unknown> = {};
  let file: File | null = null;
  for (const [name, value] of form) {
    if (typeof value === "string") body[name] = fromText(value, known[name]);
    else if (name === "file") file = value;
    else wrong(`a file named ${name}`);
  }
  return { body, file };
}

/** An error in WordPress's form. */
export function refuse(status: number, code: string, data: object = {}): OutboundResponse {
  return answerOf(status, { code, message: "Sorry.", data: { status, ...data } });
}
