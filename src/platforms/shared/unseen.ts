import type { Json } from "../../ports/platform-io.ts";
import type { EffectContext, EffectSpec, PublishIo } from "../../ports/publish-io.ts";
import { asNotSent } from "./not-sent.ts";

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
    send: (context) =>
      spec.send(context).catch((error: unknown) => {
        throw asNotSent(error);
      }),
    settle: async () => ({ outcome: "send_again" }),
  });
}
