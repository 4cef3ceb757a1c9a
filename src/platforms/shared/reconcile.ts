import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import type { Json } from "../../ports/platform-io.ts";
import type {
  EffectContext,
  EffectSpec,
  PublishIo,
  ReconcileContext,
  Reconciled,
} from "../../ports/publish-io.ts";
import { throwNotSent } from "./faults.ts";

/** The platform's clock may be behind ours by so much, beside what its answers tell. */
const CLOCK_TOLERANCE_MS = MINUTE;

export interface Listing<R> {
  readonly io: Pick<PublishIo, "now" | "aheadMs">;
  /** After it, what was taken stands in a listing: the platform's lag, with room to spare. */
  readonly listedAfterMs: number;
  /**
   * Why a listing without the post proves nothing (filters, moderation); follows "outcome unknown:". Left out:
   * it is a proof.
   */
  readonly doubt?: string | undefined;
  /**
   * How long the platform knows a repeated request by its key. For three quarters of that, it is sent again
   * under the same key; only later the post is looked for.
   */
  readonly keyMs?: number | null;
  /**
   * The post among those made since then (milliseconds since 1970); null: not there. `doubts` is told where
   * this look proves nothing.
   */
  find(since: number, doubts: (reason: string) => void): Promise<R | null>;
}

/** Its listing leaves out what a post is known by, or the post: nothing that it does not show is proof then. */
const TAKEN = "the platform took the post, did not say where it is, and does not list it.";

/**
 * Looks for the post among the account's own. It is proven absent by two listings without it, `listedWithinMs`
 * apart; when the first was made is kept in the step's handle, which must be null or an object.
 */
export async function reconcileByListing<R>(
  {
    intentAt,
    handle,
    saveHandle,
    wasTaken,
  }: Pick<ReconcileContext, "intentAt" | "handle" | "saveHandle" | "wasTaken">,
  listing: Listing<R>,
): Promise<Reconciled<R>> {
  const { io } = listing;
  const now = io.now();
  const { keyMs = null } = listing;
  if (keyMs !== null && now < intentAt + keyMs * 0.75) return { outcome: "send_again", isStillInDoubt: true };
  let { doubt } = listing;
  const findSince = (at: number): Promise<R | null> =>
    listing.find(at - CLOCK_TOLERANCE_MS, (reason) => (doubt = reason));
  // Only its answer tells what the platform's clock shows.
  const found =
    (await findSince(intentAt)) ?? (io.aheadMs() > 0 ? await findSince(intentAt - io.aheadMs()) : null);
  if (found !== null) return { outcome: "done", result: found };
  const { absentAt: noted = now, ...kept } = Handle.parse(handle ?? {});
  // A clock that was put back since proves nothing.
  const absentAt = Math.min(noted, now);
  if (absentAt === now) await saveHandle({ ...kept, absentAt });
  const waitMs = absentAt + listing.listedAfterMs - now;
  if (waitMs > 0) return { outcome: "ask_again", afterMs: waitMs };
  if (wasTaken) return { outcome: "unknown", reason: TAKEN };
  if (doubt !== undefined) return { outcome: "unknown", reason: doubt };
  // The next sending is looked for anew.
  await saveHandle(Object.keys(kept).length === 0 ? null : kept);
  return { outcome: "send_again" };
}

const Handle = z.object({ absentAt: z.number().optional() }).catchall(z.json());

/** For platforms that cannot be asked about a post: a person has to look. */
export function blind(title: string): () => Promise<Reconciled<never>> {
  return async () => ({
    outcome: "unknown",
    reason: `the answer was lost, and ${title} cannot be asked whether the post is there.`,
  });
}

/**
 * A step whose result is not seen until a later one names it, an upload say: a lost answer
 * leaves nothing in doubt, and the step may be sent again. `isGone`: as for any step.
 */
export function repeatableStep<R extends Json>(
  io: Pick<PublishIo, "effect">,
  spec: Pick<EffectSpec<R>, "step" | "request" | "isGone"> & {
    readonly send: (context: EffectContext) => Promise<R>;
  },
): Promise<R> {
  return io.effect<R>({
    ...spec,
    send: (context) => spec.send(context).catch(throwNotSent),
    reconcile: async () => ({ outcome: "send_again" }),
  });
}
