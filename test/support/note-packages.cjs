// Preloaded (`--require`): writes each package that the process loads into the file NOTE_PACKAGES, a line each time.
const { appendFileSync } = require("node:fs");
const Module = require("node:module");

const { resolveFilename } = { resolveFilename: Module._resolveFilename };
Module._resolveFilename = function (...given) {
  const found = resolveFilename.apply(this, given);
  appendFileSync(process.env.NOTE_PACKAGES, `${found}\n`);
  return found;
};
const hook = `
  import { appendFileSync } from "node:fs";
  export async function resolve(name, context, next) {
    const found = await next(name, context);
    appendFileSync(process.env.NOTE_PACKAGES, found.url + "\\n");
    return found;
  }`;
Module.register(`data:text/javascript,${encodeURIComponent(hook)}`);
