/**
 * Loaded before the product: kills the process at the n-th change of the disk (KILL_AT), before it or after it. Only the system
 * knows; the product is the one that is shipped.
 */
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const Database = require("better-sqlite3");

const killAt = Number(process.env["KILL_AT"]);
let passed = 0;

function pass() {
  passed += 1;
  if (passed === killAt) process.kill(process.pid, "SIGKILL");
}

for (const name of ["copyFile", "link", "mkdir", "mkdtemp", "open", "rename", "rm"]) {
  const real = fs.promises[name];
  fs.promises[name] = async (...args) => {
    pass();
    const result = await real.apply(fs.promises, args);
    pass();
    return result;
  };
}
for (const name of ["fsyncSync", "mkdirSync", "openSync", "renameSync", "writeSync"]) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (name === "openSync" && !String(args[1]).includes("w")) return real(...args);
    pass();
    const result = real(...args);
    pass();
    return result;
  };
}
syncBuiltinESMExports();

const CHANGE = /^(begin immediate|commit|pragma wal_checkpoint)/i;

/** `run`, with a place to die before it and one after it. */
function between(run) {
  pass();
  const result = run();
  pass();
  return result;
}

const exec = Database.prototype.exec;
Database.prototype.exec = function (source) {
  return CHANGE.test(source) ? between(() => exec.call(this, source)) : exec.call(this, source);
};
const prepare = Database.prototype.prepare;
Database.prototype.prepare = function (source) {
  const statement = prepare.call(this, source);
  if (!CHANGE.test(source)) return statement;
  const name = statement.reader ? "all" : "run";
  const real = statement[name];
  statement[name] = (...args) => between(() => real.apply(statement, args));
  return statement;
};
