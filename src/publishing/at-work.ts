import type { AppContext } from "../context.ts";
import { SECOND } from "../domain/time.ts";
import { listHeard, NOT_PUBLISHING, noteUrl, readUrl, type WorkerRow } from "../store/queries/workers.ts";

/** Processes that were heard of lately and did not end since, the one that started last first. */
export async function listAlive(
  ctx: AppContext,
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): Promise<readonly WorkerRow[]> {
  const heard = await listHeard(ctx.store, now - withinMs);
  // One that was killed signed off nowhere, and its last heartbeat is young.
  return heard.filter((worker) => !ctx.store.liveness.hasEnded(worker));
}

export function publishes({ role }: WorkerRow): boolean {
  return !NOT_PUBLISHING.includes(role);
}

/** A server that has not been heard of for this long is hardly running any more. */
const SILENT_MS = 30 * SECOND;

function listAtWork(ctx: AppContext): Promise<readonly WorkerRow[]> {
  return listAlive(ctx, { now: ctx.clock.now(), withinMs: SILENT_MS });
}

/** Whether a process that stays publishes: `posthorn serve`, or the half of it that does. */
export async function isServerRunning(ctx: AppContext): Promise<boolean> {
  return (await listAtWork(ctx)).some(({ role }) => role === "serve" || role === "publisher");
}

/** For the other processes on the data folder, which may have other settings. */
export async function noteServerUrl(
  ctx: AppContext,
  server: Pick<WorkerRow, "host" | "pid">,
  url: string,
): Promise<void> {
  await ctx.store.write((tx) => noteUrl(tx, server, url));
}

/** Where others reach the server that works on this data folder, the latest of several; null where none does. */
export async function readServerUrl(ctx: AppContext): Promise<string | null> {
  const servers = (await listAtWork(ctx)).filter(({ role }) => role === "serve" || role === "api");
  for (const server of servers) {
    const url = await readUrl(ctx.store, server);
    if (url !== null) return url;
  }
  return null;
}

/** Whether any process publishes on this data folder, if only for as long as a client is open. */
export async function isPublisherRunning(ctx: AppContext): Promise<boolean> {
  return (await listAtWork(ctx)).some(publishes);
}
