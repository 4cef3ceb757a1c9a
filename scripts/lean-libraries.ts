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
Dispatcher.prototype.request = require("./lib/api/api-request");
module.exports = {
  Agent: require("./lib/dispatcher/agent"),
  Client: require("./lib/dispatcher/client"),
  Dispatcher,
  buildConnector: require("./lib/core/connect"),
};`;

/** Forms are checked by whoever asked for them, never by the SDK's own hand. */
const MCP_SHIMS = `
import process from "node:process";
class DefaultJsonSchemaValidator {
  getValidator() { throw new Error("The server was made without a validator of JSON Schema."); }
}
export { DefaultJsonSchemaValidator, process };`;

/** What the older SDK's one transport takes is no other than what the newer one does. */
const MCP_TYPES = `export { JSONRPCMessageSchema } from "@modelcontextprotocol/core/internal";`;

const require = createRequire(import.meta.url);

/** The types that Express knows by a short name; everything is sent with its whole type. */
const MIME_TYPES = `module.exports = ${JSON.stringify(
  Object.fromEntries(
    Object.entries(require("mime-db") as Record<string, { extensions?: string[] }>).filter(([, type]) =>
      type.extensions?.some((extension) => ["html", "json", "txt"].includes(extension)),
    ),
  ),
)};`;

/** Node reads every encoding by itself. */
const ICONV = `
function decoderOf(encoding) {
  try {
    return new TextDecoder(encoding);
  } catch {
    throw new Error("Encoding not recognized: " + encoding);
  }
}
exports.decode = (bytes, encoding) => decoderOf(encoding).decode(bytes);
exports.getDecoder = (encoding) => {
  const decoder = decoderOf(encoding);
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
};`;

const ROUTER_TRACING = `
exports.shouldTrace = () => false;
exports.recordError = () => {};`;

/** Warns whoever writes for Express of what will go. */
const DEPD = `module.exports = () => Object.assign(() => {}, { function: (called) => called, property() {} });`;

/** What cannot be written is told in one word for the whole of it. */
const STRINGIFY = `
const plain = (_name, value) => (typeof value === "bigint" ? String(value) : value);
exports.configure = () => (value) => JSON.stringify(value, plain);`;

/** The client without the server, and without compression, which no conversation agrees on. */
const WS = `
export { default as createWebSocketStream } from "./lib/stream.js";
export { default as WebSocket } from "./lib/websocket.js";`;
const WS_DEFLATE = `module.exports = { extensionName: "permessage-deflate" };`;

const { channels } = require("undici/lib/core/diagnostics.js") as { channels: object };
const UNDICI_DIAGNOSTICS = `exports.channels = ${JSON.stringify(
  Object.fromEntries(Object.keys(channels).map((name) => [name, { hasSubscribers: false }])),
)};`;

const { ERROR, TYPE } = require("undici/lib/llhttp/constants.js") as { ERROR: object; TYPE: object };
const LLHTTP_CONSTANTS = `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;

/** The parser of HTTP in WebAssembly. As base64, which is no text, it would hardly be packed any more. */
const LLHTTP = `
const { brotliDecompressSync } = require("node:zlib");
module.exports = brotliDecompressSync(Buffer.from("${brotliCompressSync(
  require("undici/lib/llhttp/llhttp-wasm.js") as Buffer,
).toString("base64")}", "base64"));`;

/** From its sources, which fall apart into what is used and what is not. */
const LUXON = `
export { default as DateTime } from "../../src/datetime.js";
export { default as IANAZone } from "../../src/zones/IANAZone.js";`;

/** Exports that are named by what is kept, and never used. */
function leftOut(...names: readonly string[]): string {
  return names
    .map((name) => `export class ${name} { constructor() { throw new Error("${name} was left out."); } }`)
    .join("\n");
}

// What each of them brings stands in `bench/README.md`: the first two to a start, the others to the size of
// the package.
const REPLACEMENTS: readonly Replacement[] = [
  { path: /[\\/]@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/, contents: MCP_SHIMS },
  {
    path: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/,
    contents: 'export { default as en } from "./en.js";',
  },
  { path: /[\\/]@modelcontextprotocol[\\/]sdk[\\/]dist[\\/]esm[\\/]types\.js$/, contents: MCP_TYPES },
  // Bodies come as bytes and as a text; pages are drawn, files sent and cookies set by `src/http`.
  { path: /[\\/]iconv-lite[\\/]lib[\\/]index\.js$/, contents: ICONV },
  { path: /[\\/]body-parser[\\/]lib[\\/]types[\\/](json|urlencoded)\.js$/, contents: "" },
  {
    path: /[\\/](express[\\/]lib[\\/]view|(send|serve-static|cookie|cookie-signature)[\\/]index)\.js$/,
    contents: "",
  },
  { path: /[\\/]mime-db[\\/]index\.js$/, contents: MIME_TYPES },
  { path: /[\\/]ws[\\/]wrapper\.mjs$/, contents: WS },
  { path: /[\\/]ws[\\/]lib[\\/]permessage-deflate\.js$/, contents: WS_DEFLATE },
  // Limits count by what `src/http/access/network-of.ts` says.
  { path: /[\\/]ip-address[\\/]dist[\\/]ip-address\.js$/, contents: "export class Address6 {}" },
  // Queries and forms are read by URLSearchParams.
  { path: /[\\/]qs[\\/]lib[\\/]index\.js$/, contents: "" },
  // Nobody reads the libraries' own traces of what they do.
  { path: /[\\/]debug[\\/]src[\\/]index\.js$/, contents: "module.exports = () => () => {};" },
  { path: /[\\/]depd[\\/]index\.js$/, contents: DEPD },
  { path: /[\\/]router[\\/]lib[\\/]tracing\.js$/, contents: ROUTER_TRACING },
  { path: /[\\/]undici[\\/]lib[\\/]core[\\/]diagnostics\.js$/, contents: UNDICI_DIAGNOSTICS },
  // The log is written by this thread, to one place, and holds plain values.
  { path: /[\\/](thread-stream[\\/]index|pino[\\/]lib[\\/](transport|multistream))\.js$/, contents: "" },
  { path: /[\\/]safe-stable-stringify[\\/]index\.js$/, contents: STRINGIFY },
  // Numbers alone are shown, to whoever asks: no traces, no push, no cluster; lengths of time as histograms.
  { path: /[\\/]@opentelemetry[\\/]api[\\/]/, contents: "" },
  { path: /[\\/]prom-client[\\/]lib[\\/](cluster|pushgateway|summary)\.js$/, contents: "" },
  { path: /[\\/]undici[\\/]index\.js$/, contents: UNDICI },
  { path: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]constants\.js$/, contents: LLHTTP_CONSTANTS },
  { path: /[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp-wasm\.js$/, contents: LLHTTP },
  // Bodies here are bytes and streams, never forms, over HTTP/1.1; the parser runs on any processor in its plain form.
  {
    path: /[\\/]undici[\\/]lib[\\/](web[\\/]|llhttp[\\/]llhttp_simd-wasm\.js$|dispatcher[\\/]client-h2\.js$)/,
    contents: "",
  },
  // Tables are made by sentences of ours, and none is read that is not known.
  { path: /[\\/]kysely[\\/]dist[\\/]esm[\\/]schema[\\/]schema\.js$/, contents: leftOut("SchemaModule") },
  { path: /[\\/]with-schema[\\/]with-schema-plugin\.js$/, contents: leftOut("WithSchemaPlugin") },
  { path: /[\\/]query-builder[\\/]merge-query-builder\.js$/, contents: leftOut("MergeQueryBuilder") },
  { path: /[\\/]query-builder[\\/]json-path-builder\.js$/, contents: leftOut("JSONPathBuilder") },
  {
    path: /[\\/]kysely[\\/].*[\\/](sqlite|postgres)-introspector\.js$/,
    contents: leftOut("SqliteIntrospector", "PostgresIntrospector"),
  },
  // Moments are read as numbers and in the form of ISO 8601, and written in figures.
  { path: /[\\/]luxon[\\/]build[\\/]es6[\\/]luxon\.mjs$/, contents: LUXON },
  { path: /[\\/]luxon[\\/]src[\\/](info|interval)\.js$/, contents: "export default null;" },
  {
    path: /[\\/]luxon[\\/]src[\\/]impl[\\/]tokenParser\.js$/,
    contents: leftOut(
      "TokenParser",
      "parseFromTokens",
      "explainFromTokens",
      "formatOptsToTokens",
      "expandMacroTokens",
    ),
  },
  // What a file is, is told by bytes in memory.
  { path: /[\\/]file-type[\\/]index\.js$/, contents: 'export { fileTypeFromBuffer } from "./core.js";' },
  { path: /[\\/]file-type[\\/]supported\.js$/, contents: "export const extensions = [], mimeTypes = [];" },
  {
    path: /[\\/]strtok3[\\/]lib[\\/](Blob|ReadStream)Tokenizer\.js$/,
    contents: leftOut("BlobTokenizer", "ReadStreamTokenizer"),
  },
  {
    path: /[\\/]strtok3[\\/]lib[\\/]stream[\\/](StreamReader|WebStream\w+)\.js$/,
    contents: leftOut("StreamReader", "WebStreamByobReader", "WebStreamDefaultReader", "makeWebStreamReader"),
  },
  // Films come without a key.
  {
    path: /[\\/]mediabunny[\\/].*[\\/]aes\.js$/,
    contents: leftOut("Aes128CbcContext", "AES_128_BLOCK_SIZE", "createAes128CbcDecryptStream"),
  },
  // Uploads are noted in files, and archives are bytes.
  {
    path: /[\\/]@tus[\\/]utils[\\/]dist[\\/]kvstores[\\/](Io)?RedisKvStore\.js$/,
    contents: leftOut("RedisKvStore", "IoRedisKvStore"),
  },
  { path: /[\\/]text-decoder[\\/]index\.js$/, contents: "module.exports = class {};" },
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
