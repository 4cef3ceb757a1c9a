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

for (const name of ["copyFile", "link", "mkdtemp", "open", "rename", "rm"]) {
  const real = fs.promises[name];
  fs.promises[name] = async (...args) => {
    pass();
    const result = await real.apply(fs.promises, args);
    pass();
    return result;
  };
}
for (const name of ["openSync", "renameSync"]) {
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

const exec = Database.prototype.exec;
Database.prototype.exec = function (source) {
  const isChange = /^(BEGIN IMMEDIATE|COMMIT|PRAGMA wal_checkpoint)/.test(source);
  if (isChange) pass();
  const result = exec.call(this, source);
  if (isChange) pass();
  return result;
};
