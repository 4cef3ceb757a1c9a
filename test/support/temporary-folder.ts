import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A data folder that goes with the test. */
export function temporaryFolder(): {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  [Symbol.dispose](): void;
} {
  const path = mkdtempSync(join(tmpdir(), "posthorn-test-"));
  return {
    path,
    env: { POSTHORN_DATA_DIR: join(path, "data") },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
