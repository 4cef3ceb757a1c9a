import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The one folder that may reach out; everything else asks it by `ctx.outbound` or `io.request`. */
const DOOR = "src/media/";

/**
 * Modules that open connections. Names of `node:http` and `node:net` that only serve or only look are free.
 */
const FORBIDDEN_MODULES =
  /^(undici|ws|axios|got|ky|node-fetch|cross-fetch|request|superagent|(node:)?(https|http2|tls|dgram|dns|dns\/promises))$/;
const FORBIDDEN_NAMES: Readonly<Record<string, readonly string[]>> = {
  "node:http": ["request", "get", "Agent", "ClientRequest", "globalAgent", "default"],
  "node:net": ["connect", "createConnection", "Socket", "default"],
};
/** A socket's type says nothing about opening one. */
const FORBIDDEN_GLOBALS = ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"];

interface Use {
  readonly file: string;
  readonly what: string;
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

/** Every way out of this machine that a source takes. */
function findNetworkUse(file: string, text: string): Use[] {
  const uses: Use[] = [];
  const note = (what: string): unknown => uses.push({ file, what });
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
      noteImport(node, node.moduleSpecifier.text, note);
    if (ts.isCallExpression(node)) noteCall(node, note);
    if (ts.isIdentifier(node) && FORBIDDEN_GLOBALS.includes(node.text) && isFree(node)) note(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return uses;
}

function noteImport(node: ts.ImportDeclaration, name: string, note: (what: string) => unknown): void {
  if (node.importClause?.isTypeOnly === true) return;
  if (FORBIDDEN_MODULES.test(name)) return void note(name);
  const forbidden = FORBIDDEN_NAMES[name] ?? FORBIDDEN_NAMES[`node:${name}`];
  const bindings = node.importClause?.namedBindings;
  if (forbidden === undefined || node.importClause === undefined) return;
  if (node.importClause.name !== undefined || (bindings !== undefined && ts.isNamespaceImport(bindings)))
    return void note(`${name} as a whole`);
  if (bindings === undefined || !ts.isNamedImports(bindings)) return;
  for (const element of bindings.elements) {
    const imported = (element.propertyName ?? element.name).text;
    if (!element.isTypeOnly && forbidden.includes(imported)) note(`${imported} of ${name}`);
  }
}

function noteCall(node: ts.CallExpression, note: (what: string) => unknown): void {
  const [first] = node.arguments;
  const isLoading =
    node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === "require";
  if (!isLoading || first === undefined || !ts.isStringLiteral(first)) return;
  if (FORBIDDEN_MODULES.test(first.text) || first.text in FORBIDDEN_NAMES) note(`${first.text}, loaded`);
}

/** The global itself, not a property, a declaration or a type of the same name. */
function isFree(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent))
    return parent.expression === node || parent.expression.getText() === "globalThis";
  const isName =
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent)) &&
    parent.name === node;
  return (
    !isName &&
    !ts.isTypeReferenceNode(parent) &&
    !ts.isShorthandPropertyAssignment(parent) &&
    !ts.isParameter(parent)
  );
}

describe("the network", () => {
  it("is reached through the one door alone", () => {
    const files = [...listFiles("src"), ...listFiles("tools")].filter((file) => !file.startsWith(DOOR));
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap((file) => findNetworkUse(file, readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
  });

  it.each([
    'import { request } from "undici";',
    'import https from "node:https";',
    'import { request } from "node:http";',
    'import http from "node:http";',
    'import * as net from "node:net";',
    'import { connect as open } from "node:net";',
    'import { lookup } from "node:dns/promises";',
    'const undici = await import("undici");',
    'const http = require("node:http");',
    'await fetch("https://example.com");',
    'await globalThis.fetch("https://example.com");',
    "const send = fetch;",
    'new WebSocket("ws://example.com");',
  ])("is told by this test: %s", (text) => {
    expect(findNetworkUse("example.ts", text)).not.toEqual([]);
  });

  it.each([
    'import { createServer, type Server } from "node:http";',
    'import type { Agent } from "undici";',
    'import { isIP } from "node:net";',
    "spool.fetch(url);",
    "interface Spool { fetch(url: string): void }",
    "const spool = { fetch: () => {} };",
  ])("is not seen where it is not: %s", (text) => {
    expect(findNetworkUse("example.ts", text)).toEqual([]);
  });
});
