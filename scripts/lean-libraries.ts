import { createRequire } from "node:module";
import { dirname } from "node:path";
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

/** The types that file names tell of what is served and taken here; what else there is, nothing asks for. */
const MIME_TYPES = `module.exports = ${JSON.stringify(
  Object.fromEntries(
    Object.entries(
      createRequire(import.meta.url)("mime-db") as Record<string, { extensions?: string[] }>,
    ).filter(
      ([type, { extensions }]) =>
        extensions !== undefined && /^(image|video|audio|text|font)\/|[/+](json|xml|javascript)$/.test(type),
    ),
  ),
)};`;

// What each of them brings stands in `bench/README.md`: the first two to a start, the others to the size of
// the package.
const REPLACEMENTS: readonly Replacement[] = [
  { path: /[\\/]@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/, contents: MCP_SHIMS },
  {
    path: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/,
    contents: 'export { default as en } from "./en.js";',
  },
  // Requests are JSON in UTF-8; these tables would read those in the encodings of single countries.
  { path: /[\\/]iconv-lite[\\/]encodings[\\/](dbcs|sbcs)-(data|data-generated|codec)\.js$/, contents: "" },
  { path: /[\\/]mime-db[\\/]index\.js$/, contents: MIME_TYPES },
  // Limits count by what `src/http/access/network-of.ts` says.
  { path: /[\\/]ip-address[\\/]dist[\\/]ip-address\.js$/, contents: "export class Address6 {}" },
  // Nobody reads the libraries' own traces of what they do.
  { path: /[\\/]debug[\\/]src[\\/]index\.js$/, contents: "module.exports = () => () => {};" },
  // The log is written by this thread.
  { path: /[\\/]thread-stream[\\/]index\.js$/, contents: "" },
  // Queries and forms are read by URLSearchParams.
  { path: /[\\/]qs[\\/]lib[\\/]index\.js$/, contents: "" },
  // Numbers alone are shown, to whoever asks: no traces, no push, no cluster.
  { path: /[\\/]@opentelemetry[\\/]api[\\/]/, contents: "" },
  { path: /[\\/]prom-client[\\/]lib[\\/](cluster|pushgateway)\.js$/, contents: "" },
  { path: /[\\/]undici[\\/]index\.js$/, contents: UNDICI },
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
