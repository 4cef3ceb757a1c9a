import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import type { Received } from "./door.ts";

interface Field {
  readonly types: readonly string[];
  readonly required?: true;
}
type Fields = Readonly<Record<string, Field>>;

const spec: { methods: Record<string, Fields>; types: Record<string, Fields> } = JSON.parse(
  readFileSync(new URL("./spec.json", import.meta.url), "utf8"),
);

const ajv = new Ajv({ allErrors: true, strict: false });

function typeOf(name: string): object {
  const list = /^Array of (.*)$/.exec(name)?.[1];
  if (list !== undefined) return { type: "array", items: typeOf(list) };
  if (name === "Integer") return { type: "integer" };
  if (name === "Boolean") return { type: "boolean" };
  if (name === "String" || name === "InputFile") return { type: "string" };
  if (name === "InputMedia")
    return {
      anyOf: Object.keys(spec.types)
        .filter((type) => type.startsWith(name))
        .map(typeOf),
    };
  const fields = spec.types[name];
  // Nothing of ours uses the others.
  if (fields === undefined) return { not: {} };
  const tag = /^InputMedia(.+)$/.exec(name)?.[1]?.toLowerCase();
  const schema = toSchema(fields);
  return tag === undefined
    ? schema
    : { ...schema, properties: { ...schema.properties, type: { const: tag } } };
}

function toSchema(fields: Fields) {
  return {
    type: "object",
    additionalProperties: false,
    required: Object.keys(fields).filter((name) => fields[name]?.required === true),
    properties: Object.fromEntries(Object.entries(fields).map(([name, { types }]) => [name, anyOf(types)])),
  };
}

/** Lists of several types hold items of any of them. */
function anyOf(types: readonly string[]): object {
  const items = types.flatMap((type) => /^Array of (.*)$/.exec(type)?.[1] ?? []);
  if (items.length < 2) return { anyOf: types.map(typeOf) };
  return { type: "array", items: { anyOf: items.map(typeOf) } };
}

const checks = new Map<string, ValidateFunction>(
  Object.entries(spec.methods).map(([name, fields]) => [name, ajv.compile(toSchema(fields))]),
);

/** What a method was called with, files as `attach://` and their part's name. */
export type Params = Record<string, any>;

/** The parameters by the official description; what does not fit it is told in `wrong`. */
export function readParams(method: string, request: Received): { params: Params; wrong: string[] } {
  const fields = spec.methods[method] ?? {};
  const texts = Object.entries(request.texts).map(([name, text]) => [name, decode(fields[name], text)]);
  const files = Object.keys(request.files)
    .filter((name) => fields[name]?.types.includes("InputFile"))
    .map((name) => [name, `attach://${name}`]);
  const params: Params = {
    ...(request.json as Params | null),
    ...Object.fromEntries([...texts, ...files]),
  };
  const check = checks.get(method);
  const wrong = check?.(params) === true ? [] : (check?.errors ?? []).map((one) => JSON.stringify(one));
  return { params, wrong: [...wrong, ...checkFiles(params, request)] };
}

/** In forms everything but a text is written as JSON. */
function decode(field: Field | undefined, text: string): unknown {
  if (field?.types.every((type) => type === "String" || type === "InputFile") === true) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Each file is named once, and each name has its file. */
function checkFiles(params: Params, { files }: Received): string[] {
  const named = [...JSON.stringify(params).matchAll(/attach:\/\/([^"]+)/g)].map(([, name]) => name);
  const missing = named.filter((name) => !(String(name) in files));
  const unused = Object.keys(files).filter((name) => !named.includes(name));
  return [...missing.map((name) => `no file ${name}`), ...unused.map((name) => `nothing shows ${name}`)];
}
