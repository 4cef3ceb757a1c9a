import { missingDriver } from "../../scripts/sqlite-driver.ts";

/** Said once, and not by each test. */
export function setup(): void {
  const sentence = missingDriver();
  if (sentence !== null) throw new Error(sentence);
}
