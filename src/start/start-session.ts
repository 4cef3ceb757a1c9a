import type { Session } from "../cli/host.ts";
import { closersOf } from "../app/closers.ts";
import { createContext, createTools } from "../app/compose.ts";
import { enlist, runPublisher, type ThisProcess } from "../publishing/running-publisher.ts";
import { takeOverFromDead } from "../publishing/workers.ts";
import { isPublisherRunning } from "../health/running-server.ts";
import { ensureFirstAccount } from "../connecting/first-channel.ts";
import type { Setup } from "../app/setup.ts";
import type { Tell } from "../store/engine/store.ts";

/** Opens the service for one command: no publisher, and no server, unless the command asks for them. */
export async function startSession(
  setup: Setup,
  self: ThisProcess,
  options: { readonly isEnlisted: boolean; readonly tell?: Tell },
): Promise<Session> {
  const ctx = await createContext(setup, {}, options.tell);
  const closers = closersOf(ctx);
  try {
    await ensureFirstAccount(ctx);
    const { isEnlisted } = options;
    if (isEnlisted) closers.add(await enlist(ctx, self));
    const toolbox = createTools(ctx, setup);
    return {
      ctx,
      toolbox,
      folder: setup.folder.path,
      async servePages() {
        const { openListenerWhenAsked } = await import("./listener.ts");
        openListenerWhenAsked({ setup, ctx, toolbox, closers, isReady: () => false });
      },
      async startPublishing() {
        // Whether another one publishes is not judged by one that was killed a moment ago.
        await takeOverFromDead(ctx);
        if (await isPublisherRunning(ctx)) return false;
        if (!isEnlisted) closers.add(await enlist(ctx, self));
        const publisher = await runPublisher(ctx, setup.folder.generation, { ...self, role: "cli" });
        closers.add(() => publisher.close());
        return true;
      },
      [Symbol.asyncDispose]: () => closers[Symbol.asyncDispose](),
    };
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}
