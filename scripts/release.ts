import { readFile } from "node:fs/promises";
import { assertReleasable } from "./packages.ts";

/** Refuses to publish what CHANGELOG.md does not tell of: `npm publish` runs this first. */
assertReleasable(await readFile(new URL("../CHANGELOG.md", import.meta.url), "utf8"));
