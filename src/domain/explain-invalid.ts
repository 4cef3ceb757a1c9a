import * as z from "zod";
import { AppError } from "./errors.ts";
import { unwrapped } from "./optional.ts";
import { join, type ListName, type NextStep, type Said, say, withSteps } from "./sentences.ts";
import { quote } from "./text/plain-text.ts";

type Issue = z.core.$ZodIssue;

/** Most issues, and unknown fields of one, told at once: a caller mends a few, not a hundred. */
const MAX_TOLD = 5;

interface Telling {
  /** Where the object stands and whose it is: `{ prefix: "metadata", owner: "Bluesky" }`. */
  readonly within?: { readonly prefix: string; readonly owner: string };
  /** The fields of the whole that are named. Default: all. */
  readonly known?: readonly string[];
  /** The field that an unknown one probably means. */
  readonly meant?: (given: string, known: readonly string[]) => string | null;
  /** A sentence that leads on from an unknown or a wrong field, beside those that are known. */
  readonly lead?: (given: string, known: readonly string[]) => Said | null;
  /** Fields whose values the platform tells. Default: none. */
  readonly choosable?: readonly string[];
}

/** Turns what zod found into one sentence a field: its path, the reason, and what is taken instead. */
export function explainInvalid(error: z.ZodError, schema: z.ZodObject, telling: Telling = {}): AppError {
  const told = error.issues.slice(0, MAX_TOLD).map((issue) => explainIssue(issue, schema, telling));
  const more = error.issues.length - told.length;
  return new AppError("invalid", more > 0 ? [...told, `And ${more} more.`] : told);
}

function explainIssue(issue: Issue, schema: z.ZodObject, telling: Telling): Said {
  const { within } = telling;
  const path = pathOf(within === undefined ? issue.path : [within.prefix, ...issue.path]);
  const field = path === "" ? "arguments" : path;
  switch (issue.code) {
    case "unrecognized_keys":
      return explainUnknown(issue, { schema, path, telling });
    case "invalid_type":
      return issue.input === undefined || issue.input === null
        ? explainMissing(issue, { field, schema, telling })
        : join(
            `${field}: must be ${article(issue.expected)}${shapeOf(issue, schema)}.`,
            leadFrom(issue, schema, telling),
          );
    case "invalid_value":
      return `${field}: ${issue.input === "" ? "is empty, and " : ""}must be ${listOf(issue.values.map((value) => JSON.stringify(value)))}.`;
    case "too_big":
      return `${field}: ${boundOf(issue, "at most", issue.maximum)}.`;
    case "too_small":
      if (issue.origin === "array" && issue.minimum === 1) return explainEmpty(issue, { field, schema });
      return `${field}: ${boundOf(issue, "at least", issue.minimum)}.`;
    default:
      return withSteps(`${field}: ${lowerFirst(issue.message)}.`, ...chooseFor(issue, telling));
  }
}

/** An empty list is no value that was left out: what filters by it would else take all there is. */
function explainEmpty({ path }: Issue, { field, schema }: { field: string; schema: z.ZodObject }): string {
  const isOptional = schemaAt(schema, path)?.safeParse(undefined).success === true;
  return `${field}: is empty. Give at least one item${isOptional ? ", or leave it out" : ""}.`;
}

/** Where a value comes from, as descriptions say it. */
const FROM_LIST = /(?:, )?from list_(\w+)$/i;

const LISTS: readonly ListName[] = ["accounts", "posts", "drafts", "files", "webhooks", "platforms"];

/** As its schema describes it, in brackets: where a value comes from is what its absence asks for. */
function explainMissing(
  issue: Issue & { code: "invalid_type" },
  { field, schema, telling }: { field: string; schema: z.ZodObject; telling: Telling },
): Said {
  const [described = ""] = (schemaAt(schema, issue.path)?.description ?? "").split(/\.(?:\s|$)/);
  const named = issue.path.at(-1) === "accountId" ? "accounts" : FROM_LIST.exec(described)?.[1];
  const of = LISTS.find((list) => list === named);
  const what = described.replace(FROM_LIST, "");
  const is = what === "" ? "" : ` (${lowerFirst(what)})`;
  const from: readonly NextStep[] = of === undefined ? chooseFor(issue, telling) : [{ do: "list", of }];
  const next: readonly NextStep[] = [{ do: "give", what: article(issue.expected) + is }, ...from];
  return say("is required.", { field, next });
}

/** The platform tells what the field may be. */
function chooseFor({ path }: Issue, { choosable = [] }: Telling): readonly NextStep[] {
  const field = path.findLast((part) => typeof part === "string");
  return typeof field === "string" && choosable.includes(field) ? [{ do: "choose", field }] : [];
}

/** The fields of the object that was expected. */
function shapeOf({ code, path, ...issue }: Issue, schema: z.ZodObject): string {
  const keys = code === "invalid_type" && "expected" in issue ? knownKeys(schema, path) : [];
  return keys.length === 0 ? "" : ` with ${keys.join(", ")}`;
}

function leadFrom({ path }: Issue, schema: z.ZodObject, { lead }: Telling): Said | null {
  return lead?.(String(path.at(-1)), knownKeys(schema, path.slice(0, -1))) ?? null;
}

function explainUnknown(
  issue: Issue & { code: "unrecognized_keys" },
  { schema, path, telling }: { schema: z.ZodObject; path: string; telling: Telling },
): Said {
  const names = listOfSome(issue.keys.map((key) => quote(key)));
  const prefix = path === "" ? "" : `${path}: `;
  const isWhole = issue.path.length === 0;
  const known = (isWhole ? telling.known : undefined) ?? knownKeys(schema, issue.path);
  // Within a field its own fields are meant: those of a part of a thread are not those of the platform.
  const of = (isWhole ? telling.within?.owner : path) ?? null;
  const meant = issue.keys.slice(0, MAX_TOLD).flatMap((key) => telling.meant?.(key, known) ?? []);
  const places = meant.length === 0 ? "" : ` Did you mean ${meant.join(", ")}?`;
  const ways = new Set(issue.keys.flatMap((key) => telling.lead?.(key, known) ?? []));
  const what = issue.keys.length === 1 ? "is not a known field" : "are not known fields";
  const said = join(`${prefix}${names} ${what}.${places}`, ...ways);
  return withSteps(said, { do: "use_fields", of, known });
}

/** The fields of the object at `path` inside the schema. */
function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const at = schemaAt(schema, path);
  const end = at === undefined ? undefined : unwrapped(at);
  return end instanceof z.ZodObject ? Object.keys(end.shape) : [];
}

function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  let at: z.ZodType | undefined = schema;
  for (const part of path) at = at === undefined ? undefined : step(unwrapped(at), part);
  return at;
}

function step(schema: z.ZodType, part: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[String(part)] as z.ZodType | undefined;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return undefined;
}

export function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : `${at === 0 ? "" : "."}${String(part)}`))
    .join("");
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function article(expected: string): string {
  return ARTICLES[expected] ?? `of type ${expected}`;
}

/** In the schema's own words, where it has some. */
function boundOf(
  { message, origin }: { readonly message: string; readonly origin: string },
  bound: "at most" | "at least",
  count: number | bigint,
): string {
  if (!/^Too (?:big|small)\b/.test(message)) return lowerFirst(message);
  const plural = Number(count) === 1 ? "" : "s";
  if (origin === "array" || origin === "set") return `must have ${bound} ${count} item${plural}`;
  return `must be ${bound} ${count}${origin === "string" ? ` character${plural} long` : ""}`;
}

function listOf(values: readonly string[]): string {
  return values.length < 2 ? (values[0] ?? "") : `one of ${values.join(", ")}`;
}

function listOfSome(names: readonly string[]): string {
  const more = names.length - MAX_TOLD;
  return more > 0 ? `${names.slice(0, MAX_TOLD).join(", ")} and ${more} more` : names.join(", ");
}

function lowerFirst(text: string): string {
  const trimmed = text.replace(/\.$/, "");
  return trimmed.charAt(0).toLowerCase() + trimmed.slice(1);
}

/** A value with named fields, in JSON's terms. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
