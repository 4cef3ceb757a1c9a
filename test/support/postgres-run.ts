import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres-server.ts";
import { installWorkspace } from "./workspace.ts";

/** One server for a whole test run; each test has a database of its own on it (`createDatabase`). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await installWorkspace("postgres");
  const server = await startPostgres({ flags: ["-c", "max_connections=300"] });
  project.provide("postgres", server.address);
  return async () => server[Symbol.asyncDispose]();
}
