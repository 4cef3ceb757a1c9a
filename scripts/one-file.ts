import { basename } from "node:path";
import { transform, type BuildResult, type Metafile } from "esbuild";

export interface OneFileOptions {
  readonly target: string;
  /** Sources that every start by an agent needs: what they import is plain code, everything else a text. */
  readonly eager: readonly string[];
}

/**
 * Runs the parts of the one file. Node reads all of a program's code before it runs any of it, which for everything that Posthorn
 * can do takes longer than a bare server takes to start. It passes over a text at a fifth of that price, so the parts that a start
 * does not need are texts, compiled when they are first imported.
 */
const LOADER = `
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
const requireFromOutside = createRequire(import.meta.url);
const loaded = new Map();
const PARAMETERS = ["module", "exports", "require", "moduleUrl"];
function compile(text, name) {
  return compileFunction(text(), PARAMETERS, { filename: import.meta.url + "/" + name });
}
function requirePart(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const run = CODE[name] ?? (TEXTS[name] && compile(TEXTS[name], name.slice(2)));
  if (run === undefined) return requireFromOutside(name);
  const module = { exports: {} };
  loaded.set(name, module);
  run(module, module.exports, requirePart, import.meta.url);
  return module.exports;
}`;

/** Joins the outputs of a build with `splitting` into one module; `licenses` are the legal comments of all of them. */
export async function joinParts(
  result: BuildResult<{ metafile: true; write: false }>,
  options: OneFileOptions,
): Promise<{ readonly code: string; readonly licenses: string }> {
  const files = new Map(result.outputFiles.map(({ path, text }) => [basename(path), text]));
  const graph = readGraph(result.metafile);
  const eager = new Set<string>();
  for (const source of options.eager) addImported(graph, graph.entries.get(source), eager);
  const code: string[] = [];
  const texts: string[] = [];
  for (const [name, text] of files) {
    if (!name.endsWith(".js")) continue;
    const part = await toFunctionBody(text, options.target);
    if (eager.has(name)) code.push(`"./${name}": (function (module, exports, require, moduleUrl) {${part}})`);
    // A function around it: Node would look at the text of a constant more closely.
    else texts.push(`"./${name}": () => ${JSON.stringify(part)}`);
  }
  const [entry = ""] = options.eager;
  const start = `requirePart("./${graph.entries.get(entry)}");`;
  return {
    code: `#!/usr/bin/env node${LOADER}\nconst CODE = {\n${code.join(",\n")}};\nconst TEXTS = {\n${texts.join(",\n")}};\n${start}\n`,
    licenses: mergeLicenses([...files].filter(([name]) => !name.endsWith(".js")).map(([, text]) => text)),
  };
}

/** As CommonJS, which can be linked without writing files; line breaks and names stay for the stacks in the log. */
async function toFunctionBody(text: string, target: string): Promise<string> {
  const { code, warnings } = await transform(text.replace(/^#!.*\n/, ""), {
    format: "cjs",
    platform: "node",
    target,
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "moduleUrl" },
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 140,
  });
  if (warnings.length > 0) throw new Error(`A part of the bundle cannot be a function: ${warnings.map((one) => one.text).join(" ")}`);
  return `${code}\n`;
}

interface Graph {
  /** Sources with outputs of their own: where the program begins, and what is imported late. */
  readonly entries: ReadonlyMap<string, string>;
  readonly imports: ReadonlyMap<string, readonly string[]>;
}

function readGraph({ outputs }: Metafile): Graph {
  const entries = new Map<string, string>();
  const imports = new Map<string, readonly string[]>();
  for (const [path, { entryPoint, imports: all }] of Object.entries(outputs)) {
    if (entryPoint !== undefined) entries.set(entryPoint, basename(path));
    const early = all.filter(({ kind, external }) => kind === "import-statement" && external !== true);
    imports.set(
      basename(path),
      early.map((one) => basename(one.path)),
    );
  }
  return { entries, imports };
}

function addImported(graph: Graph, name: string | undefined, found: Set<string>): void {
  if (name === undefined) throw new Error("A source that every start needs has no part of its own.");
  if (found.has(name)) return;
  found.add(name);
  for (const imported of graph.imports.get(name) ?? []) addImported(graph, imported, found);
}

/** No source is in two parts, so none is named twice. */
function mergeLicenses(texts: readonly string[]): string {
  const lists = texts.map((text) => text.replace(/^Bundled license information:$/m, "").trim());
  return `${lists.filter((list) => list !== "").join("\n\n")}\n`;
}
