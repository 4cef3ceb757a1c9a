import { PlatformFault, type Json } from "../../ports/platform-io.ts";
import type { EffectContext, EffectSpec, PublishIo } from "../../ports/publish-io.ts";

/**
 * A step that leaves nothing anybody sees until a later one names what it gave, an upload say: a lost answer
 * leaves nothing in doubt, and the step may be sent again. `isGone`: as for any step.
 */
export function sendUnseen<R extends Json>(
  io: Pick<PublishIo, "effect">,
  spec: Pick<EffectSpec<R>, "step" | "request" | "isGone"> & {
    readonly send: (context: EffectContext) => Promise<R>;
  },
): Promise<R> {
  return io.effect<R>({
    ...spec,
    send: (context) => spec.send(context).catch(asNotSent),
    settle: async () => ({ outcome: "send_again" }),
  });
}

function asNotSent(error: unknown): never {
  if (!(error instanceof PlatformFault) || (error.kind !== "transient" && error.kind !== "ambiguous"))
    throw error;
  const { message, httpStatus, cause } = error;
  throw new PlatformFault("not_sent", message, { cause, ...(httpStatus === null ? {} : { httpStatus }) });
}
