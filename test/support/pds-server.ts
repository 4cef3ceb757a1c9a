import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { z } from "zod";
import { installWorkspace } from "./workspace.ts";
import { listen } from "./listen.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the first who asks starts the Bluesky server of the run, and each is told its address. */
    readonly pds: string;
  }
}

export const PdsAddress = z.object({ url: z.string(), jwtSecret: z.string() });
export type PdsAddress = z.infer<typeof PdsAddress>;

/**
 * Installs the Bluesky server's own workspace, and starts it, for the first test that needs it. Without a registry
 * within reach, those tests say so, and the others run.
 */
export async function setup({ provide }: TestProject): Promise<() => void> {
  let child: ChildProcess | undefined;
  const start = async (): Promise<PdsAddress> => {
    const folder = await installWorkspace("pds");
    // The root's compiled copy of the same version is found in its place: it is built once.
    await rm(`${folder}node_modules/better-sqlite3`, { recursive: true, force: true });
    child = fork(new URL("../pds/server.mjs", import.meta.url), {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
    });
    return addressOf(child);
  };
  let running: Promise<PdsAddress> | undefined;
  const door = createServer((_request, response) => {
    running ??= start();
    running.then(
      (address) => response.end(JSON.stringify(address)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const { origin } = await listen(door);
  provide("pds", origin);
  return () => {
    door.close();
    child?.disconnect();
  };
}

async function addressOf(child: ChildProcess): Promise<PdsAddress> {
  const exited = once(child, "exit").then(() => {
    throw new Error("The server did not start: install its workspace with `npm ci` in test/pds.");
  });
  const [message] = await Promise.race([once(child, "message"), exited]);
  return PdsAddress.parse(message);
}
