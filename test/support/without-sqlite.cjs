// Preloaded (`--require`) into a process that shall find no driver: none was built (or npm has left it out), and Node brings none.
const Module = require("node:module");

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "better-sqlite3" && process.env.LEFT_OUT)
    throw Object.assign(new Error("Cannot find module 'better-sqlite3'"), { code: "MODULE_NOT_FOUND" });
  if (name === "better-sqlite3")
    throw new Error("Could not locate the bindings file. Tried: …/build/better_sqlite3.node");
  if (name === "node:sqlite")
    throw Object.assign(new Error("No such built-in module: node:sqlite"), {
      code: "ERR_UNKNOWN_BUILTIN_MODULE",
    });
  return load.call(this, name, ...rest);
};
