import { createRequire } from "node:module";
import { dirname } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "esbuild";

/** What takes the place of a library's file that nothing here needs; "": an empty module. */
interface Replacement {
  readonly path: RegExp;
  readonly contents: string;
}

/**
 * The HTTP client without fetch, caches, proxies, test doubles and WebSockets: what the outbound door takes
 * of it.
 */
const UNDICI = `
const Dispatcher = require("./lib/dispatcher/dispatcher");
Object.assign(Dispatcher.prototype, require("./lib/api"));
module.exports = {
  Agent: require("./lib/dispatcher/agent"),
  Client: require("./lib/dispatcher/client"),
  Dispatcher,
  buildConnector: require("./lib/core/connect"),
};`;

/**
 * An answer to a question is checked by what `src/mcp/calls/json-schema-validator.ts` gives to the server,
 * never by the SDK's own.
 */
const MCP_SHIMS = `
import process from "node:process";
class DefaultJsonSchemaValidator {
  getValidator() { throw new Error("The server was made without a validator of JSON Schema."); }
}
export { DefaultJsonSchemaValidator, process };`;

const require = createRequire(import.meta.url);

/**
 * The types that file names tell of what is served and taken here, without those of single programs; what
 * else there is, nothing asks for.
 */
const MIME_TYPES = `module.exports = ${JSON.stringify(
  Object.fromEntries(
    Object.entries(require("mime-db") as Record<string, { extensions?: string[] }>).filter(
      ([type, { extensions }]) =>
        extensions !== undefined &&
        /^(image|video|audio|text|font)\/(?!vnd\.|x-|prs\.)|[/+](json|xml|javascript)$/.test(type),
    ),
  ),
)};`;

/** The parser of HTTP in WebAssembly. As base64, which is no text, it would hardly be packed any more. */
const LLHTTP = `
const { brotliDecompressSync } = require("node:zlib");
module.exports = brotliDecompressSync(Buffer.from("${brotliCompressSync(
  require("undici/lib/llhttp/llhttp-wasm.js") as Buffer,
).toString("base64")}", "base64"));`;

// What each of them brings stands in `bench/README.md`: the first two to a start, the others to the size of
// the package.
const REPLACEMENTS: readonly Replacement[] = [
  { path: /[\\/]@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/, contents: MCP_SHIMS },
  {
    path: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/,
    contents: 'export { default as en } from "./en.js";',
  },
  // Requests are JSON in UTF-8; these would read the encodings of single countries, and rare ones of Unicode.
  {
    path: /[\\/]iconv-lite[\\/]encodings[\\/]((dbcs|sbcs)-(data|data-generated|codec)|utf7|utf32)\.js$/,
    contents: "",
  },
  {
    path: /[\\/]proxy-addr[\\/]node_modules[\\/]ipaddr\.js[\\/]lib[\\/]ipaddr\.js$/,
    contents: 'module.exports = require("../../../../ipaddr.js");',
  },
  { path: /[\\/]mime-db[\\/]index\.js$/, contents: MIME_TYPES },
  // Limits count by what `src/http/access/network-of.ts` says.
  { path: /[\\/]ip-address[\\/]dist[\\/]ip-address\.js$/, contents: "export class Address6 {}" },
  // Nobody reads the libraries' own traces of what they do.
  { path: /[\\/]debug[\\/]src[\\/]index\.js$/, contents: "module.exports = () => () => {};" },
  // The log is written by this thread, to one place.
  { path: /[\\/](thread-stream[\\/]index|pino[\\/]lib[\\/](transport|multistream))\.js$/, contents: "" },
  // Queries and forms are read by URLSearchParams.
  { path: /[\\/]qs[\\/]lib[\\/]index\.js$/, contents: "" },
  // Numbers alone are shown, to whoever asks: no traces, no push, no cluster; lengths of time as histograms.
  { path: /[\\/]@opentelemetry[\\/]api[\\/]/, contents: "" },
  { path: /[\\/]prom-client[\\/]lib[\\/](cluster|pushgateway|summary)\.js$/, contents: "" },
  { path: /[\\/]undici[\\/]index\.js$/, contents: UNDICI },
  { path: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp-wasm\.js$/, contents: LLHTTP },
  // Bodies here are bytes and streams, never forms, over HTTP/1.1; the parser runs on any processor in its plain form.
  {
    path: /[\\/]undici[\\/]lib[\\/](web[\\/]|llhttp[\\/]llhttp_simd-wasm\.js$|dispatcher[\\/]client-h2\.js$)/,
    contents: "",
  },
];

/**
 * Leaves parts out that are parsed at every start, or fetched by whoever runs this through npx, for nothing.
 */
export const leanLibraries: Plugin = {
  name: "lean-libraries",
  setup(builder) {
    for (const { path: filter, contents } of REPLACEMENTS) {
      builder.onLoad({ filter }, ({ path }) => ({ contents, loader: "js", resolveDir: dirname(path) }));
    }
  },
};
