import { builtinModules } from "node:module";
import type { Plugin } from "esbuild";

/** Loaded by Node itself before any program starts. */
const LOADED = ["buffer", "events", "fs", "fs/promises", "module", "os", "path", "process", "stream", "timers", "url", "util"];

const NAMESPACE = "builtin";

/**
 * Loads Node's own modules with the first module of ours that uses them. An `import` of them would stand at the head of the one
 * file, and HTTP/2, TLS and name resolution would be set up for every start that only talks on standard streams.
 */
export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  setup(builder) {
    const names = builtinModules.filter((name) => !name.startsWith("_") && !LOADED.includes(name));
    const filter = new RegExp(`^(node:)?(${names.join("|")})$`);
    builder.onResolve({ filter }, ({ path, kind, namespace }) => {
      const name = path.replace(/^(node:)?/, "node:");
      return kind === "import-statement" && namespace !== NAMESPACE ? { path: name, namespace: NAMESPACE } : { path: name, external: true };
    });
    builder.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = require("${path}");`,
      loader: "js",
    }));
  },
};
