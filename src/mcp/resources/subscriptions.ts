import type { Server } from "@modelcontextprotocol/server";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Scope } from "../kinds.ts";
import { orProtocolError } from "../protocol-error.ts";

/** Any process on the database may change a resource, so it is read again. */
const POLL_MS = SECOND;

const MAX_WATCHED = 20;

/**
 * Answers `resources/subscribe` in sessions: the protocol's conformance suite requires it up to revision
 * 2025-11-25. Later revisions announce what is sent, and this server announces nothing there.
 */
export function serveSubscriptions(
  server: Server,
  { ctx }: Scope,
  read: (uri: string) => Promise<unknown>,
): void {
  const known = new Map<string, string>();
  let isPolling = false;
  const look = async (uri: string): Promise<string> => JSON.stringify(await read(uri).catch(() => null));
  const poll = async (): Promise<void> => {
    while (known.size > 0 && server.transport !== undefined) {
      await ctx.clock.sleep(POLL_MS);
      for (const uri of known.keys()) {
        const now = await look(uri);
        if (server.transport === undefined || !known.has(uri) || known.get(uri) === now) continue;
        known.set(uri, now);
        await server.sendResourceUpdated({ uri });
      }
    }
    isPolling = false;
  };
  const subscribe = async (uri: string): Promise<void> => {
    if (known.size >= MAX_WATCHED)
      throw new AppError(
        "too_large",
        `A session can subscribe to ${MAX_WATCHED} resources. Unsubscribe from some first.`,
      );
    known.set(uri, JSON.stringify(await read(uri)));
    if (isPolling) return;
    isPolling = true;
    poll().catch((error: unknown) => ctx.log.debug({ err: error }, "A subscription ended"));
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    await orProtocolError(ctx, subscribe(uri), uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    known.delete(uri);
    return {};
  });
}
