// Preloaded (`--require`) into a process that shall take its Node for one that is too old.
Object.defineProperty(process.versions, "node", { value: "18.20.8" });
