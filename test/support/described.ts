import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import { readJson } from "../../src/channels/platform-io/platform-request.ts";
import type { OutboundRequest, OutboundResponse } from "../../src/ports/outbound.ts";

const Schema = z.record(z.string(), z.json());
type Schema = z.infer<typeof Schema>;

const Operation = z.object({
  /** Of an array, its values come after commas, or each with the name. */
  query: z.record(z.string(), Schema).default({}),
  /** What of the query must be there. */
  required: z.array(z.string()).default([]),
  /** One body, or one of several: JSON, … */
  body: Schema.optional(),
  /** … a form of texts, … */
  fields: Schema.optional(),
  /** … a form of parts, where a file is an object with `type` and `size` and JSON has a `contentSchema`, … */
  form: Schema.optional(),
  /** … or a file: what type it has. */
  file: z.string().optional(),
  /** What a token must be good for. */
  scopes: z.array(z.string()).default([]),
});

/** Operations as a platform's own description has them; `source` names it. */
const Spec = z.looseObject({
  source: z.string(),
  /** What several have: `{ "$ref": "spec#/definitions/article" }`. */
  definitions: z.record(z.string(), Schema).default({}),
  /** What may stand for a {…} of a path, where that is not usual. */
  ids: z.record(z.string(), z.string()).default({}),
  operations: z.record(z.string(), Operation),
});

/** An operation that a fake itself describes, where no file does. */
export interface Operation {
  readonly query?: object;
  readonly required?: readonly string[];
  readonly body?: object;
  readonly fields?: object;
  readonly form?: object;
  readonly file?: string;
  readonly scopes?: readonly string[];
}

interface OwnSpec {
  readonly source: string;
  readonly definitions?: Readonly<Record<string, object>>;
  readonly ids?: Readonly<Record<string, string>>;
  readonly operations: Readonly<Record<string, Operation>>;
}

type Asked = Omit<OutboundRequest, "method"> & { readonly method: string };

export interface Described {
  /** As the description names it: "PUT /campaigns/{id}/status". */
  readonly name: string;
  /** What stands for the first {…} of its path. */
  readonly id: string;
  /** What stands for each. */
  readonly ids: readonly string[];
  readonly scopes: readonly string[];
  readonly query: URLSearchParams;
  /** Its JSON, the fields or parts of its form, or the bytes of its file; null: none. */
  readonly body: any;
  /** What its query and its body have, typed as it is described. */
  readonly given: Readonly<Record<string, any>>;
}

/** A group for each {…}: descriptions name them `{post_id}`, `{post-id}` or `{post.id}`. */
function patternOf(path: string, ids: Readonly<Record<string, string>>): RegExp {
  const pieces = path.split(/\{([^{}]+)\}/);
  const write = (one: string, at: number): string =>
    at % 2 === 0 ? one.replaceAll(".", "\\.") : `(${ids[one] ?? "[\\w-]+"})`;
  return new RegExp(`^${pieces.map(write).join("")}$`);
}

const TYPES: readonly (readonly ["body" | "fields" | "form", RegExp])[] = [
  ["body", /^application\/json(; ?charset=utf-8)?$/i],
  ["fields", /^application\/x-www-form-urlencoded$/],
  ["form", /^multipart\/form-data; ?boundary=\S+$/],
];

/** Checks by JSON Schema; of texts, with their types. */
function createChecks({ definitions }: z.infer<typeof Spec>) {
  const options = { strict: false } as const;
  const [ajv, ofTexts] = [new Ajv2020(options), new Ajv2020({ ...options, coerceTypes: true })];
  for (const one of [ajv, ofTexts]) {
    addFormats.default(one);
    one.addFormat("json-string", (text) => readJson(text) !== null);
    one.addSchema({ definitions }, "spec");
  }
  const typesOf = (schema: any): unknown[] => {
    const reference = schema?.$ref?.split("/").at(-1);
    return [reference === undefined ? schema?.type : typesOf(definitions[reference])].flat();
  };
  const problem = (check: ValidateFunction, value: unknown): string | null =>
    check(value) ? null : ajv.errorsText(check.errors);
  return {
    ofJson(schema: Schema) {
      const check = ajv.compile(schema);
      return (value: unknown) => problem(check, value);
    },
    /** Gives the values, or what is wrong with them. What comes twice and is no array is an array all the same. */
    ofPairs(schema: Schema) {
      const all = Object.entries((schema["properties"] ?? {}) as Record<string, any>);
      const isJson = new Set(all.flatMap(([name, one]) => (one.contentSchema === undefined ? [] : [name])));
      const isList = new Set(all.flatMap(([name, one]) => (typesOf(one).includes("array") ? [name] : [])));
      const properties = Object.fromEntries(all.map(([name, one]) => [name, one.contentSchema ?? one]));
      const check = ofTexts.compile({ ...schema, properties });
      return (pairs: Iterable<readonly [string, unknown]>): Record<string, unknown> | string => {
        const values: Record<string, unknown> = {};
        for (const [key, value] of pairs) {
          const name = key.replace(/\[\d*\]$/, "");
          if (isList.has(name)) {
            const those = name === key && typeof value === "string" ? value.split(",") : [value];
            values[name] = [...((values[name] as unknown[]) ?? []), ...those];
          } else if (key in values) values[key] = [values[key], value];
          else values[key] = isJson.has(key) ? (readJson(String(value)) ?? value) : value;
        }
        return problem(check, values) ?? values;
      };
    },
  };
}

/**
 * Reads requests by the excerpt of a description beside a fake, which is a file or has no better source: what a
 * request is, or what is wrong with it.
 */
export function describedBy(
  source: URL | OwnSpec,
): (request: Asked, base: string) => Promise<Described | string> {
  const spec = Spec.parse(source instanceof URL ? JSON.parse(readFileSync(source, "utf8")) : source);
  const checks = createChecks(spec);
  const operations = Object.entries(spec.operations).map(([name, { query, required, ...one }]) => {
    const [method = "", path = ""] = name.split(" ");
    const readQuery = checks.ofPairs({
      type: "object",
      properties: query,
      required,
      additionalProperties: false,
    });
    return {
      name,
      method,
      pattern: patternOf(path, spec.ids),
      scopes: one.scopes,
      readQuery,
      readBody: bodyReader(one, checks),
    };
  });
  return async (request, base) => {
    const { searchParams: query } = new URL(request.url);
    const path = request.url.startsWith(base)
      ? (request.url.split("?")[0] ?? "").slice(base.length)
      : request.url;
    const found = operations.find(({ method, pattern }) => method === request.method && pattern.test(path));
    if (found === undefined) return `There is no ${request.method} ${path}.`;
    const { name, scopes, pattern } = found;
    const asked = found.readQuery(query);
    if (typeof asked === "string") return `${name}: ${asked}`;
    const read = await found.readBody(request);
    if (typeof read === "string") return `${name}: ${read}`;
    const ids = (pattern.exec(path) ?? []).slice(1).map(decodeURIComponent);
    return {
      name,
      id: ids[0] ?? "",
      ids,
      scopes,
      query,
      body: read.body,
      given: { ...asked, ...read.given },
    };
  };
}

type Bodies = Pick<z.infer<typeof Operation>, "body" | "fields" | "form" | "file">;
interface Body {
  readonly body: unknown;
  readonly given?: object;
}

/** Reads the body that belongs to an operation; says what is wrong with another. */
function bodyReader(
  one: Bodies,
  checks: ReturnType<typeof createChecks>,
): (request: Asked) => Promise<Body | string> {
  const isJson = one.body === undefined ? null : checks.ofJson(one.body);
  const readFields = one.fields === undefined ? null : checks.ofPairs(one.fields);
  const readForm = one.form === undefined ? null : checks.ofPairs(one.form);
  const isNone = [one.body, one.fields, one.form, one.file].every((kind) => kind === undefined);
  const readKind = async (bytes: Buffer, type: string): Promise<Body | string> => {
    const kind = TYPES.find(([, pattern]) => pattern.test(type))?.[0];
    if (kind === "body" && isJson !== null) {
      const body = JSON.parse(bytes.toString());
      return isJson(body) ?? { body, given: body };
    }
    if (kind === "fields" && readFields !== null)
      return toBody(readFields(new URLSearchParams(bytes.toString())));
    if (kind === "form" && readForm !== null) {
      const form = await new Response(new Uint8Array(bytes), {
        headers: { "content-type": type },
      }).formData();
      return toBody(readForm(form));
    }
    const isFile = one.file !== undefined && new RegExp(one.file).test(type);
    return isFile ? { body: bytes } : `a body of ${type}.`;
  };
  return async ({ body, headers = {} }) => {
    const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? "");
    const [type = "", length] = [headers["content-type"], headers["content-length"]];
    if (length !== undefined && Number(length) !== bytes.length)
      return `${bytes.length} bytes came, and ${length} were said to.`;
    if (length === undefined && (type.startsWith("multipart/") || one.file !== undefined))
      return "a body of unknown length.";
    if (isNone) return bytes.length === 0 && type === "" ? { body: null } : "a body.";
    return readKind(bytes, type);
  };
}

function toBody(values: Record<string, unknown> | string): Body | string {
  return typeof values === "string" ? values : { body: values, given: values };
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
