// Preloaded (`--require`) into a process that shall do without the native driver, as where its install script did not run.
const Module = require("node:module");

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "better-sqlite3")
    throw Object.assign(new Error("Cannot find module 'better-sqlite3'"), { code: "MODULE_NOT_FOUND" });
  return load.call(this, name, ...rest);
};
