import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const ROOT = join(import.meta.dirname, "../..");
/** Faces of their own, and what only the one who runs the server reads. */
const OTHER_FACES =
  /^(?:cli|operations|start|app|store|mcp|main|toolkit|http\/(?:oauth|openapi|pages|server)|domain\/settings)\b/;

/** Whose sentences people and agents read. */
export const SOURCES = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts") && !OTHER_FACES.test(name));

/** Whole sentences of the source, with a word in the place of each value. */
export function sentencesOf(path: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    // Descriptions are of the schema, and stand in no error.
    const callee = ts.isCallExpression(node) ? node.expression.getText() : "";
    if (/\.(?:describe|meta)$/.test(callee) && ts.isCallExpression(node)) return visit(node.expression);
    const text = textOf(node);
    if (text === null) return ts.forEachChild(node, visit);
    if (/^["\w]/.test(text) && / \w+ /.test(text) && /[.!?]$/.test(text) && !/[<>]/.test(text))
      found.push(text);
  };
  visit(ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.Latest, true));
  return found;
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => `seven${span.literal.text}`).join("");
}
