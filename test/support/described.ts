import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { z } from "zod";
import { readJson } from "../../src/platform-io/platform-request.ts";
import type { OutboundRequest, OutboundResponse } from "../../src/ports/outbound.ts";

const Schema = z.record(z.string(), z.json());

/** Operations as a platform's own description has them; `source` names it. */
const Spec = z.looseObject({
  source: z.string(),
  /** What several bodies have: `{ "$ref": "spec#/definitions/article" }`. */
  definitions: Schema.default({}),
  operations: z.record(
    z.string(),
    z.object({
      query: z.record(z.string(), Schema),
      required: z.array(z.string()),
      body: Schema.optional(),
      /** A form with these parts. */
      form: z.array(z.string()).optional(),
    }),
  ),
});

export interface Described {
  /** As the description names it: "PUT /campaigns/{id}/status". */
  readonly name: string;
  /** What stands for the first {…} of its path. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Its JSON; null: none. */
  readonly body: any;
  readonly form: FormData | null;
}

/** Reads requests by the excerpt of a description beside a fake: what a request is, or what is wrong with it. */
export function describedBy(
  file: URL,
): (request: OutboundRequest, base: string) => Promise<Described | string> {
  const ajv = new Ajv({ strict: false, coerceTypes: false });
  addFormats.default(ajv);
  ajv.addFormat("json-string", (text) => readJson(text) !== null);
  const spec = Spec.parse(JSON.parse(readFileSync(file, "utf8")));
  ajv.addSchema({ definitions: spec.definitions }, "spec");
  const operations = Object.entries(spec.operations).map(([name, { query, required, body, form }]) => {
    const [method = "", path = ""] = name.split(" ");
    return {
      name,
      method,
      form,
      pattern: new RegExp(`^${path.replace(/\{\w+\}/, "([\\w-]+)")}$`),
      // All that a query has is text.
      isQuery: new Ajv({ strict: false, coerceTypes: true }).compile({
        type: "object",
        properties: query,
        required,
        additionalProperties: false,
      }),
      isBody: body === undefined ? null : ajv.compile(body),
    };
  });
  return async (request, base) => {
    const url = new URL(request.url);
    const path = request.url.split("?")[0]?.slice(base.length) ?? "";
    const found = operations.find(({ method, pattern }) => method === request.method && pattern.test(path));
    if (found === undefined) return `There is no ${request.method} ${path}.`;
    const { name, isQuery, isBody, pattern } = found;
    if (!isQuery(Object.fromEntries(url.searchParams))) return `${name}: ${ajv.errorsText(isQuery.errors)}`;
    const type = request.headers?.["content-type"] ?? "";
    const read = { name, id: pattern.exec(path)?.[1] ?? "", query: url.searchParams, body: null, form: null };
    const bytes = request.body instanceof Readable ? await buffer(request.body) : (request.body ?? "");
    if (found.form !== undefined) {
      if (!type.startsWith("multipart/form-data")) return `${name}: a body of ${type}.`;
      const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
      const names = [...form.keys()];
      return names.join() === found.form.join() ? { ...read, form } : `${name}: the parts ${names.join()}.`;
    }
    if ((isBody !== null) !== (type === "application/json")) return `${name}: a body of ${type}.`;
    if (isBody === null) return read;
    const body = JSON.parse(bytes.toString());
    return isBody(body) ? { ...read, body } : `${name}: ${ajv.errorsText(isBody.errors)}`;
  };
}

/** An answer in JSON, or a page as it is. */
export function answerOf(
  status: number,
  body: unknown = null,
  headers: Readonly<Record<string, string>> = {},
): OutboundResponse {
  const isPage = typeof body === "string";
  const type = isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
  const text = isPage ? body : body === null ? "" : JSON.stringify(body);
  return {
    status,
    headers: { "content-type": type, ...headers },
    url: "",
    body: Readable.from([Buffer.from(text)]),
  };
}

/** Every request is answered so. */
export const answers =
  (...given: Parameters<typeof answerOf>): (() => Promise<OutboundResponse>) =>
  async () =>
    answerOf(...given);
