import { AppError } from "../../../domain/errors.ts";
import { OutboundFailure } from "../../../ports/outbound.ts";
import { PlatformFault } from "../../../ports/platform-io.ts";
import type { Socket } from "../../../ports/sockets.ts";
import type { RequestOptions } from "./platform-request.ts";
import { unreached } from "./unreached.ts";

/** One conversation with a platform through the outbound door; what goes wrong with it is a PlatformFault. */
export async function conversePlatform<T>(
  { ctx, title, signal }: RequestOptions,
  url: string,
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new PlatformFault("not_sent", `The conversation with ${title} was called off.`);
  let isOpen = false;
  const begun = (socket: Socket): Promise<T> => {
    isOpen = true;
    return work(socket);
  };
  try {
    return await ctx.sockets.converse({ url, signal }, begun);
  } catch (cause) {
    // The door refused the address before anything left.
    if (cause instanceof AppError && !isOpen) throw new PlatformFault("rejected", cause.message);
    if (!(cause instanceof OutboundFailure)) throw cause;
    throw cause.wasSent
      ? new PlatformFault("transient", `${title} did not answer properly.`, { cause })
      : unreached(title, url, cause);
  }
}
