import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, transform, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What takes the place of a library's file that nothing here needs; null: an empty module. */
interface Replacement {
  readonly path: RegExp;
  readonly contents: string | null;
}

/** The HTTP client without fetch, caches, proxies, test doubles and WebSockets: what the outbound door takes of it. */
const UNDICI = `
const Dispatcher = require("./lib/dispatcher/dispatcher");
Object.assign(Dispatcher.prototype, require("./lib/api"));
module.exports = {
  Agent: require("./lib/dispatcher/agent"),
  Client: require("./lib/dispatcher/client"),
  Dispatcher,
  buildConnector: require("./lib/core/connect"),
};`;

/** An answer to a question is checked by what \`src/mcp/calls/json-schema-validator.ts\` gives to the server, never by the SDK's own. */
const MCP_SHIMS = `
import process from "node:process";
class DefaultJsonSchemaValidator {
  getValidator() { throw new Error("The server was made without a validator of JSON Schema."); }
}
export { DefaultJsonSchemaValidator, process };`;

const REPLACEMENTS: readonly Replacement[] = [
  { path: /[\\/]undici[\\/]index\.js$/, contents: UNDICI },
  // Bodies here are bytes and streams, never forms; the parser runs on any processor in its plain form.
  { path: /[\\/]undici[\\/]lib[\\/]web[\\/]/, contents: null },
  { path: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/, contents: null },
  { path: /[\\/]@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/, contents: MCP_SHIMS },
  // Numbers alone are shown, to whoever asks: no traces, no push, no cluster.
  { path: /[\\/]@opentelemetry[\\/]api[\\/]/, contents: null },
  { path: /[\\/]prom-client[\\/]lib[\\/](cluster|pushgateway)\.js$/, contents: null },
  // Requests are JSON in UTF-8; these tables would read those in the encodings of single countries.
  { path: /[\\/]iconv-lite[\\/]encodings[\\/](dbcs|sbcs)-(data|data-generated|codec)\.js$/, contents: null },
  {
    path: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/,
    contents: 'export { default as en } from "./en.js";',
  },
];

/** Makes libraries small: they are parsed at every start, and fetched by whoever runs this through npx. Our own names stay. */
export function smallLibraries(target: string): Plugin {
  return {
    name: "small-libraries",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
        const source = await readLean(path);
        const { code } = await transform(source, {
          minify: true,
          legalComments: "inline",
          target,
          sourcefile: path,
        });
        return { contents: code, loader: "js" };
      });
      builder.onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, async ({ path }) => ({
        contents: await readMimeTypes(path),
        loader: "json",
      }));
    },
  };
}

async function readLean(path: string): Promise<string> {
  const replacement = REPLACEMENTS.find((one) => one.path.test(path));
  return replacement === undefined
    ? readFile(path, "utf8")
    : (replacement.contents ?? "module.exports = {};");
}

/** Types without a file extension are never looked up here. */
async function readMimeTypes(path: string): Promise<string> {
  const types: Readonly<Record<string, { extensions?: unknown }>> = JSON.parse(await readFile(path, "utf8"));
  return JSON.stringify(
    Object.fromEntries(Object.entries(types).filter(([, { extensions }]) => extensions !== undefined)),
  );
}

/** Packages of many small modules: as one module with what our sources import they are smaller and start faster. */
const MERGED = ["kysely", "mediabunny"];

const NAMESPACE = "merged";

/** Bundles each of `MERGED` by itself, so that what nobody imports falls away. */
export function mergedLibraries(target: string): Plugin {
  return {
    name: "merged-libraries",
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^(${MERGED.join("|")})$`) }, ({ path }) => ({
        path,
        namespace: NAMESPACE,
      }));
      builder.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => ({
        contents: await merge(path, target),
        loader: "js",
        resolveDir: ROOT,
      }));
    },
  };
}

async function merge(library: string, target: string): Promise<string> {
  const names = await listImported(library);
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(", ")} } from "${library}";`, resolveDir: ROOT },
    bundle: true,
    write: false,
    minify: true,
    platform: "node",
    format: "esm",
    target,
    legalComments: "inline",
  });
  return outputFiles[0]?.text ?? "";
}

/** The names that our sources import of a library; one that were overlooked would fail the build. */
async function listImported(library: string): Promise<string[]> {
  const files = await readdir(`${ROOT}/src`, { recursive: true });
  const texts = await Promise.all(
    files.filter((file) => file.endsWith(".ts")).map((file) => readFile(`${ROOT}/src/${file}`, "utf8")),
  );
  const lists = texts.flatMap((text) => [
    ...text.matchAll(new RegExp(`import \\{([^}]+)\\} from "${library}"`, "g")),
  ]);
  const names = lists.flatMap(([, list = ""]) => list.split(",").map((name) => name.trim()));
  return [...new Set(names.filter((name) => name !== "" && !name.startsWith("type ")))].sort();
}
