import type { oas31 } from "zod-openapi";
import type { OpenApiDocument } from "./openapi.ts";
import { curlOf } from "./curl.ts";
import { fieldRow, fieldRows, isReference, prose, refName, typeOf, type AnySchema } from "./docs-schema.ts";
import { snippet } from "../pages/copy-button.ts";
import { html, type Html, type HtmlValue } from "../pages/html.ts";

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: oas31.OperationObject;
}

/** The whole description as a page that reads without a script; the script adds search and copying. */
export function docsView(document: OpenApiDocument, baseUrl: string): Html {
  const entries = listEntries(document);
  const tags = (document.tags ?? []).filter((tag) => entries.some((entry) => isIn(entry, tag.name)));
  return html`<div class="docs">
    <nav aria-label="Contents">
      <div class="search" hidden>
        <label for="search">Search</label>
        <input id="search" type="search" placeholder="posts, retry, upload…" autocomplete="off" />
      </div>
      <details id="contents">
        <summary>All endpoints and tools</summary>
        ${tags.map((tag) => contents(tag.name, entries))}
      </details>
    </nav>
    <article>
      <h1>${document.info.title} API <span class="muted small">${document.info.version}</span></h1>
      ${paragraphs(document.info.description ?? "")}
      <p>
        <a href="/api/v1/openapi.json">openapi.json</a> holds the same for programs (OpenAPI
        ${document.openapi}).
      </p>
      ${snippet(`export POSTHORN_API_KEY=…\n${curlOf({ baseUrl, method: "get", path: "/api/v1/posts?limit=5", isOpen: false })}`)}
      <p id="nothing" class="note" hidden>Nothing here has all of these words.</p>
      ${tags.map((tag) => section(tag, entries, baseUrl))} ${schemas(document)}
    </article>
  </div>`;
}

function listEntries(document: OpenApiDocument): Entry[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined
        ? []
        : [{ id: operation.operationId ?? `${method}${path}`, method, path, operation }];
    }),
  );
}

function isIn(entry: Entry, tag: string): boolean {
  return entry.operation.tags?.includes(tag) === true;
}

function contents(tag: string, entries: readonly Entry[]): Html {
  const links = entries.filter((entry) => isIn(entry, tag));
  return html`<div class="group">
    <h2>${tag}</h2>
    <ul>
      ${links.map(
        ({ id, method, path }) =>
          html`<li data-for="${id}">
            <a href="#${id}">${isTool(path) ? "" : methodMark(method)} ${shortPath(path)}</a>
          </li>`,
      )}
    </ul>
  </div>`;
}

function isTool(path: string): boolean {
  return path.startsWith("/api/v1/tools/");
}

function methodMark(method: string): Html {
  return html`<span class="method ${method}">${method}</span>`;
}

function shortPath(path: string): string {
  return path.replace(/^\/api\/v1\/(?:tools\/(?=.))?/, (start) => (start.endsWith("tools/") ? "" : "/"));
}

function section(tag: oas31.TagObject, entries: readonly Entry[], baseUrl: string): Html {
  return html`<section class="group">
    <h2 id="tag-${tag.name}">${tag.name}</h2>
    <p class="muted">${tag.description}</p>
    ${entries.filter((entry) => isIn(entry, tag.name)).map((entry) => describe(entry, baseUrl))}
  </section>`;
}

function describe({ id, method, path, operation }: Entry, baseUrl: string): Html {
  const words = `${method} ${path} ${operation.summary ?? ""} ${operation.description ?? ""}`.toLowerCase();
  return html`<details class="operation" id="${id}" data-words="${words}">
    <summary>
      ${methodMark(method)} <code class="path">${path}</code> <span class="about">${operation.summary}</span>
    </summary>
    ${paragraphs(operation.description ?? "")}
    ${operation.security?.length === 0 ? html`<p class="muted">Needs no key.</p>` : ""}
    ${parameters(operation)} ${body(operation)}
    ${snippet(curlOf(requestOf({ method, path, operation, baseUrl })))} ${responses(operation)}
  </details>`;
}

function requestOf(entry: Omit<Entry, "id"> & { readonly baseUrl: string }): Parameters<typeof curlOf>[0] {
  const { method, path, operation, baseUrl } = entry;
  const content = jsonOf(operation.requestBody);
  const isOpen = operation.security?.length === 0;
  return { baseUrl, method, path, isOpen, ...(content === null ? {} : { json: content.example ?? {} }) };
}

function parameters(operation: oas31.OperationObject): HtmlValue {
  const all = (operation.parameters ?? []).flatMap((parameter) =>
    "$ref" in parameter || !("name" in parameter) ? [] : [parameter],
  );
  if (all.length === 0) return null;
  const rows = all.map(({ name, required, schema, description, in: place }) =>
    fieldRow({
      name: place === "header" ? `${name}:` : name,
      field: { ...schema, ...(description === undefined ? {} : { description }) },
      mark: required === true ? "required" : null,
      depth: 0,
    }),
  );
  return table("Parameters", rows);
}

function body(operation: oas31.OperationObject): HtmlValue {
  const content = jsonOf(operation.requestBody);
  if (content?.schema === undefined) return null;
  const rows = fieldRows(content.schema, "request");
  return rows.length === 0
    ? html`<h3>Body</h3>
        <p>A JSON object, <code>{}</code>.</p>`
    : table("Body", rows);
}

function jsonOf(
  part: oas31.RequestBodyObject | oas31.ResponseObject | oas31.ReferenceObject | undefined,
): oas31.MediaTypeObject | null {
  if (part === undefined || !("content" in part)) return null;
  return part.content?.["application/json"] ?? null;
}

function responses(operation: oas31.OperationObject): Html {
  const all: [string, oas31.ResponseObject | oas31.ReferenceObject][] = Object.entries(
    operation.responses ?? {},
  );
  // What was made before what would be (a dry run): an object's numbers come in their order.
  const good = all.filter(([status]) => status.startsWith("2")).toSorted((a, b) => isMade(b) - isMade(a));
  const bad = all.filter(([status]) => !status.startsWith("2"));
  return html`${good.map(([status, answer]) => success(status, answer))}
  ${bad.length === 0 ? "" : html`<p class="muted small">Failures: ${bad.map(([status, answer]) => failure(status, answer))}</p>`}`;
}

function isMade([status]: readonly [string, unknown]): number {
  return status === "201" ? 1 : 0;
}

function success(status: string, answer: oas31.ResponseObject | oas31.ReferenceObject): Html {
  const schema: AnySchema | undefined = jsonOf(answer)?.schema;
  const rows = schema === undefined ? [] : fieldRows(schema, "answer");
  return html`<h3>Answer <span class="status">${status}</span></h3>
    <p>${answer.description}${schema !== undefined && isReference(schema) ? html` ${typeOf(schema)}` : ""}</p>
    ${rows.length === 0 ? "" : table(null, rows)}`;
}

function failure(status: string, answer: oas31.ResponseObject | oas31.ReferenceObject): Html {
  return "$ref" in answer && answer.$ref !== undefined
    ? html`<a href="#response-${refName(answer.$ref)}">${status}</a> `
    : html`${status} `;
}

function schemas(document: OpenApiDocument): Html {
  const all: [string, AnySchema][] = Object.entries(document.components?.schemas ?? {});
  const failures = Object.entries(document.components?.responses ?? {});
  const statuses = failureStatuses(document);
  return html`<section class="group">
      <h2>Records</h2>
      ${all.map(
        ([name, schema]) =>
          html`<details class="operation" id="schema-${name}" data-words="${name.toLowerCase()}">
            <summary>
              <code class="path">${name}</code> <span class="about">${schema.description}</span>
            </summary>
            ${recordOf(schema)}
          </details>`,
      )}
    </section>
    <section class="group">
      <h2>Failures</h2>
      ${table(
        null,
        failures.map(([name, answer]) => failureRow(`${statuses.get(name) ?? ""} ${name}`, { name, answer })),
      )}
    </section>`;
}

function failureRow(
  title: string,
  { name, answer }: { name: string; answer: oas31.ResponseObject | oas31.ReferenceObject },
): Html {
  return html`<tr id="response-${name}">
    <th scope="row">${title}</th>
    <td>${answer.description}</td>
  </tr>`;
}

/** The status under which the operations refer to each shared answer. */
function failureStatuses(document: OpenApiDocument): ReadonlyMap<string, string> {
  const referred = listEntries(document).flatMap(({ operation }) =>
    Object.entries(operation.responses ?? {}),
  );
  return new Map(
    referred.flatMap(([status, answer]) =>
      typeof answer.$ref === "string" ? [[refName(answer.$ref), status] as const] : [],
    ),
  );
}

function recordOf(schema: AnySchema): Html {
  const rows = fieldRows(schema, "answer");
  return rows.length === 0 ? html`<p>${typeOf(schema)}</p>` : table(null, rows);
}

function table(title: string | null, rows: readonly Html[]): Html {
  return html`${title === null ? "" : html`<h3>${title}</h3>`}
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function paragraphs(text: string): Html[] {
  return text.split(/\n{2,}/).map((part) => html`<p>${prose(part)}</p>`);
}
