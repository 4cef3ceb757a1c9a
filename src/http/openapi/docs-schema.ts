import type { oas31 } from "zod-openapi";
import { html, type Html, type HtmlValue } from "../pages/html.ts";

export type AnySchema = oas31.SchemaObject | oas31.ReferenceObject;

/** Deeper fields are found under the schema's own heading. */
const MAX_DEPTH = 3;

/** Of a request a reader asks what must be there, of an answer what may be missing. */
type Side = "request" | "answer";

/** The fields of an object as rows, nested ones indented below their parent. */
export function fieldRows(schema: AnySchema, side: Side, depth = 0): Html[] {
  const object = objectOf(schema);
  if (object?.properties === undefined || depth > MAX_DEPTH) return [];
  const required = object.required ?? [];
  return Object.entries(object.properties).flatMap(([name, field]) => [
    fieldRow({ name, field, mark: markOf(side, required.includes(name)), depth }),
    ...fieldRows(field, side, depth + 1),
  ]);
}

interface Field {
  readonly name: string;
  readonly field: AnySchema;
  readonly mark: "required" | "optional" | null;
  readonly depth: number;
}

function markOf(side: Side, isRequired: boolean): Field["mark"] {
  if (side === "request") return isRequired ? "required" : null;
  return isRequired ? null : "optional";
}

export function fieldRow({ name, field, mark, depth }: Field): Html {
  return html`<tr class="depth-${depth}">
    <th scope="row"><code>${name}</code>${mark === null ? "" : html` <span class="mark">${mark}</span>`}</th>
    <td>
      ${typeLine(field)}${field.description === undefined ? "" : html`<p>${prose(field.description)}</p>`}${valuesLine(field)}
    </td>
  </tr>`;
}

/** The object inside a list or beside a null; null where there are no fields to show here. */
function objectOf(schema: AnySchema): oas31.SchemaObject | null {
  if (isReference(schema)) return null;
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return objectOf(schema.items);
  const inner = (schema.anyOf ?? []).filter((part) => !isNull(part));
  return inner.length === 1 && inner[0] !== undefined ? objectOf(inner[0]) : null;
}

function typeLine(schema: AnySchema): Html {
  return html`<span class="type">${typeOf(schema)}</span>`;
}

/** A type in words, references as links to their heading. */
export function typeOf(schema: AnySchema): HtmlValue {
  if (isReference(schema)) return schemaLink(schema.$ref);
  if (schema.anyOf !== undefined) return joined(schema.anyOf.map(typeOf), " or ");
  if (schema.allOf !== undefined) return joined(schema.allOf.map(typeOf), " and ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array")
    return html`list of ${schema.items === undefined ? "anything" : typeOf(schema.items)}`;
  const type = schema.type === undefined ? "anything" : [schema.type].flat().join(" or ");
  return schema.format === undefined ? type : `${type} (${schema.format})`;
}

function valuesLine(schema: AnySchema): HtmlValue {
  if (isReference(schema)) return null;
  const values: unknown[] =
    schema.enum ?? (schema.items === undefined || isReference(schema.items) ? [] : (schema.items.enum ?? []));
  const limits = [
    limit("at least", schema.minimum ?? schema.minLength ?? schema.minItems),
    limit("at most", schema.maximum ?? schema.maxLength ?? schema.maxItems),
    limit("default", schema.default),
  ].filter((text) => text !== null);
  if (values.length === 0 && limits.length === 0) return null;
  const choices = values.map((value) => html`<code>${String(value)}</code> `);
  return html`<p class="limits">${choices}${limits.join(", ")}</p>`;
}

function limit(words: string, value: unknown): string | null {
  return value === undefined ? null : `${words} ${JSON.stringify(value)}`;
}

/** The name a reference points at. */
export function refName(ref: string): string {
  return ref.split("/").at(-1) ?? ref;
}

function schemaLink(ref: string): Html {
  const name = refName(ref);
  return html`<a href="#schema-${name}">${name}</a>`;
}

export function isReference(schema: AnySchema): schema is oas31.ReferenceObject {
  return "$ref" in schema && schema.$ref !== undefined;
}

function isNull(schema: AnySchema): boolean {
  return !isReference(schema) && schema.type === "null";
}

function joined(parts: readonly HtmlValue[], word: string): HtmlValue[] {
  return parts.flatMap((part, at) => (at === 0 ? [part] : [word, part]));
}

/** Text with `code` in backquotes. */
export function prose(text: string): HtmlValue[] {
  return text.split("`").map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
}
