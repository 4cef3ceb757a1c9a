import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { z } from "zod";
import { readJson } from "../../src/channels/platform-io/platform-request.ts";
import type { OutboundRequest, OutboundResponse } from "../../src/ports/outbound.ts";

const Schema = z.record(z.string(), z.json());

/** Operations as a platform's own description has them; `source` names it. */
const Spec = z.looseObject({
  source: z.string(),
  /** What several bodies have: `{ "$ref": "spec#/definitions/article" }`. */
  definitions: Schema.default({}),
  /** What may stand for a {…} of a path, where that is not usual. */
  ids: z.record(z.string(), z.string()).default({}),
  operations: z.record(
    z.string(),
    z.object({
      query: z.record(z.string(), Schema).default({}),
      required: z.array(z.string()).default([]),
      body: Schema.optional(),
      /** A form of texts: what it has, as an object. */
      fields: Schema.optional(),
      /** A form with these parts. */
      form: z.array(z.string()).optional(),
      /** What a token must be good for. */
      scopes: z.array(z.string()).default([]),
    }),
  ),
});

/** An operation that a fake itself describes, where no file does. */
export interface Operation {
  readonly query?: object;
  readonly required?: readonly string[];
  readonly body?: object;
  readonly fields?: object;
  readonly scopes?: readonly string[];
}

interface OwnSpec {
  readonly source: string;
  readonly ids?: Readonly<Record<string, string>>;
  readonly operations: Readonly<Record<string, Operation>>;
}

export interface Described {
  /** As the description names it: "PUT /campaigns/{id}/status". */
  readonly name: string;
  /** What stands for the first {…} of its path. */
  readonly id: string;
  /** What stands for each. */
  readonly ids: readonly string[];
  readonly scopes: readonly string[];
  readonly query: URLSearchParams;
  /** Its JSON, or the fields of its form; null: none. */
  readonly body: any;
  readonly form: FormData | null;
}

/** A group for each {…}: descriptions name them `{post_id}`, `{post-id}` or `{post.id}`. */
function patternOf(path: string, ids: Readonly<Record<string, string>>): RegExp {
  const pieces = path.split(/\{([^{}]+)\}/);
  const write = (one: string, at: number): string =>
    at % 2 === 0 ? one.replaceAll(".", "\\.") : `(${ids[one] ?? "[\\w-]+"})`;
  return new RegExp(`^${pieces.map(write).join("")}$`);
}

/**
 * Reads requests by the excerpt of a description beside a fake, which is a file or has no better source: what a
 * request is, or what is wrong with it.
 */
export function describedBy(
  source: URL | OwnSpec,
): (request: OutboundRequest, base: string) => Promise<Described | string> {
  const ajv = new Ajv({ strict: false, coerceTypes: false });
  // All that a query has is text.
  const ofTexts = new Ajv({ strict: false, coerceTypes: true });
  for (const one of [ajv, ofTexts]) addFormats.default(one);
  ajv.addFormat("json-string", (text) => readJson(text) !== null);
  const spec = Spec.parse(source instanceof URL ? JSON.parse(readFileSync(source, "utf8")) : source);
  ajv.addSchema({ definitions: spec.definitions }, "spec");
  const operations = Object.entries(spec.operations).map(([name, { query, required, ...one }]) => {
    const [method = "", path = ""] = name.split(" ");
    const properties = { type: "object", properties: query, required, additionalProperties: false };
    return {
      name,
      method,
      form: one.form,
      scopes: one.scopes,
      pattern: patternOf(path, spec.ids),
      isQuery: ofTexts.compile(properties),
      isBody: one.body === undefined ? null : ajv.compile(one.body),
      areFields: one.fields === undefined ? null : ajv.compile(one.fields),
    };
  });
  return async (request, base) => {
    const url = new URL(request.url);
    const path = request.url.split("?")[0]?.slice(base.length) ?? "";
    const found = operations.find(({ method, pattern }) => method === request.method && pattern.test(path));
    if (found === undefined) return `There is no ${request.method} ${path}.`;
    const { name, scopes, isQuery, isBody, areFields, pattern } = found;
    if (!isQuery(Object.fromEntries(url.searchParams))) return `${name}: ${ajv.errorsText(isQuery.errors)}`;
    const type = request.headers?.["content-type"] ?? "";
    const ids = pattern.exec(path)?.slice(1) ?? [];
    const read = { name, id: ids[0] ?? "", ids, scopes, query: url.searchParams, body: null, form: null };
    const bytes = request.body instanceof Readable ? await buffer(request.body) : (request.body ?? "");
    if (found.form !== undefined) {
      if (!type.startsWith("multipart/form-data")) return `${name}: a body of ${type}.`;
      const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
      const names = [...form.keys()];
      return names.join() === found.form.join() ? { ...read, form } : `${name}: the parts ${names.join()}.`;
    }
    const check = isBody ?? areFields;
    const wanted =
      isBody !== null ? "application/json" : areFields !== null ? "application/x-www-form-urlencoded" : "";
    if (type !== wanted) return `${name}: a body of ${type}.`;
    if (check === null) return bytes.length === 0 ? read : `${name}: a body.`;
    const text = bytes.toString();
    const body = isBody === null ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
    return check(body) ? { ...read, body } : `${name}: ${ajv.errorsText(check.errors)}`;
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
