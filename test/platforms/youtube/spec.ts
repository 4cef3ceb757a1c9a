import { Ajv } from "ajv";
import { readFileSync } from "node:fs";

interface Parameter {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly required?: boolean;
}

interface Method {
  readonly httpMethod: string;
  readonly path: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly request?: string;
  readonly mediaUpload?: { readonly accept: readonly string[]; readonly maxSize: string };
}

interface Spec {
  readonly methods: Readonly<Record<string, Method>>;
  readonly schemas: Readonly<Record<string, { properties: Record<string, Record<string, unknown>> }>>;
}

/** The needed part of Google's discovery documents; what is sent is held to it. */
const SPEC: Spec = JSON.parse(readFileSync(new URL("spec.json", import.meta.url), "utf8"));

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
for (const [name, { properties }] of Object.entries(SPEC.schemas))
  ajv.addSchema({ $id: name, type: "object", additionalProperties: false, properties });

export interface SpecMethod extends Method {
  readonly id: string;
  readonly isUpload: boolean;
}

/** Null for what the API does not have. */
export function methodOf(httpMethod: string, pathname: string): SpecMethod | null {
  const isUpload = pathname.startsWith("/upload/");
  const path = pathname.replace(/^\/(upload\/)?/, "");
  const found = Object.entries(SPEC.methods).find(
    ([, method]) => method.httpMethod === httpMethod && method.path === path,
  );
  if (found === undefined || (isUpload && found[1].mediaUpload === undefined)) return null;
  return { ...found[1], id: found[0], isUpload };
}

/** What is wrong with a query, in words. */
export function problemsOfQuery({ parameters, isUpload }: SpecMethod, query: URLSearchParams): string[] {
  const missing = Object.entries(parameters).filter(
    ([name, one]) => one.required === true && !query.has(name),
  );
  const wrong = [...query].flatMap(([name, value]) => {
    if (name === "uploadType" && isUpload) return [];
    const known = parameters[name];
    if (known === undefined) return [`unknown parameter ${name}`];
    if (known.enum !== undefined && !known.enum.includes(value)) return [`${name}: ${value}`];
    if (known.type === "boolean" && !["true", "false"].includes(value)) return [`${name}: ${value}`];
    if (known.type === "integer" && !/^\d+$/.test(value)) return [`${name}: ${value}`];
    return value === "" ? [`${name} is empty`] : [];
  });
  return [...missing.map(([name]) => `${name} is missing`), ...wrong];
}

/** What is wrong with a body: unknown fields, types, and parts that `part` does not name or that are missing. */
export function problemsOfBody({ request }: SpecMethod, body: unknown, parts: readonly string[]): string[] {
  if (request === undefined) return ["a body where none belongs"];
  const validate = ajv.getSchema(request);
  if (validate === undefined) return [`no schema ${request}`];
  const wrong = validate(body)
    ? []
    : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
  const sent = Object.keys(body as object).filter((name) => !["id", "kind", "etag"].includes(name));
  const unnamed = sent.filter((name) => !parts.includes(name)).map((name) => `part does not name ${name}`);
  return [...wrong, ...unnamed];
}
