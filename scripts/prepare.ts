import "./build.ts";
import { missingDriver } from "./sqlite-driver.ts";

/* npm installs what is optional or goes on without a word: without a driver nothing that was built would start. */
const sentence = missingDriver();
if (sentence !== null) process.stderr.write(`\n${sentence}\n`);
