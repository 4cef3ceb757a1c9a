import { basename } from "node:path";
import { transform, type BuildResult, type Metafile } from "esbuild";

export interface OneFileOptions {
  readonly target: string;
  /** Sources that every start by an agent needs: what they import is plain code, everything else a comment. */
  readonly eager: readonly string[];
}

/** Parts of Node that take their time to load and that an agent does not wait for: loaded when one of their functions is called. */
const LATE_BUILTINS = [
  "node:child_process",
  "node:crypto",
  "node:readline/promises",
  "node:stream/consumers",
  "node:timers/promises",
  "node:worker_threads",
];

/**
 * Runs the parts of the one file. Node reads all of a program's code before it runs any of it, which for everything that Posthorn
 * can do takes longer than a bare server takes to start. It passes over a comment at a tenth of that price, so the parts that a
 * start does not need stand in the last line, which is one, and are read from there when they are first imported.
 */
const LOADER = `
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
const requireFromOutside = createRequire(import.meta.url);
const lateBuiltins = new Set(${JSON.stringify(LATE_BUILTINS)});
const loaded = new Map();
let lastLine = null;
function compile(name, [start, end]) {
  if (lastLine === null) {
    const file = readFileSync(fileURLToPath(import.meta.url), "latin1");
    lastLine = file.slice(file.lastIndexOf("\\n//") + 3);
  }
  const parameters = ["module", "exports", "require", "moduleUrl"];
  const filename = import.meta.url + "/" + name.slice(2);
  return requireFromOutside("node:vm").compileFunction(JSON.parse(lastLine.slice(start, end)), parameters, { filename });
}
function requireLate(name) {
  let module;
  return new Proxy({}, { get: (_, key) => (module ??= requireFromOutside(name))[key] });
}
function requirePart(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const run = EARLY[name] ?? (LATE[name] && compile(name, LATE[name]));
  if (run === undefined) return lateBuiltins.has(name) ? requireLate(name) : requireFromOutside(name);
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
  const early: string[] = [];
  const late: Record<string, readonly [start: number, end: number]> = {};
  let lastLine = "";
  for (const [name, text] of files) {
    if (!name.endsWith(".js")) continue;
    const part = await toFunctionBody(text, options.target);
    if (eager.has(name)) {
      early.push(`"./${name}": (function (module, exports, require, moduleUrl) {${part}})`);
      continue;
    }
    const start = lastLine.length;
    lastLine += toAscii(JSON.stringify(part));
    late[`./${name}`] = [start, lastLine.length];
  }
  const [entry = ""] = options.eager;
  const parts = `const EARLY = {\n${early.join(",\n")}};\nconst LATE = ${JSON.stringify(late)};`;
  return {
    code: `#!/usr/bin/env node${LOADER}\n${parts}\nrequirePart("./${graph.entries.get(entry)}");\n//${lastLine}`,
    licenses: mergeLicenses([...files].filter(([name]) => !name.endsWith(".js")).map(([, text]) => text)),
  };
}

/** A single other character would make Node hold and read all of the file as text of twice the size. */
function toAscii(json: string): string {
  return json.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
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
  if (warnings.length > 0)
    throw new Error(
      `A part of the bundle cannot be a function: ${warnings.map((one) => one.text).join(" ")}`,
    );
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
