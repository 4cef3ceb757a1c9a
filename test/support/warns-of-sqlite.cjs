// Preloaded (`--require`) into a process that shall warn as Node 22 does when it loads node:sqlite.
process.once("beforeExit", () => {
  process.emitWarning(
    "SQLite is an experimental feature and might change at any time",
    "ExperimentalWarning",
  );
  process.emitWarning("Another feature is experimental", "ExperimentalWarning");
});
