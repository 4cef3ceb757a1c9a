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
  { path: /[\\/]undici[\\/]index\.js$/, contents: UNDICI },
  // Bodies here are bytes and streams, never forms; the parser runs on any processor in its plain form.
  {
    path: /[\\/]undici[\\/]lib[\\/]web[\\/]|[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/,
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
