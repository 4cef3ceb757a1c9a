import * as z from "zod";
import { HOUR, MINUTE, SECOND } from "../../../domain/time.ts";
import { PlatformFault, type Json, type JsonObject } from "../../../ports/platform-io.ts";
import type {
  EffectContext,
  LiveAt,
  PublishIo,
  Reconciled,
  ReconcileContext,
} from "../../../ports/publish-io.ts";
import { reconcileByListing } from "../reconcile.ts";

/** Where a container is: a post that is being made ready and that nobody sees. */
export interface ContainerStatus {
  readonly state: "IN_PROGRESS" | "FINISHED" | "PUBLISHED" | "ERROR" | "EXPIRED";
  /** What is wrong with one in ERROR; null for every other. */
  readonly fault: PlatformFault | null;
}

/** What Instagram and Threads have in common: a container is created, becomes ready, and is published once. */
export interface ContainerApi {
  readonly title: string;
  /** Gives the container's id. A `transient` fault with a field is that of media which were not fetched. */
  create(fields: JsonObject): Promise<string>;
  /** One that is not there any more is EXPIRED. */
  read(id: string): Promise<ContainerStatus>;
  /** Gives the post's id. Throws `isNotDone` where the container is gone, or not ready yet. */
  publish(id: string): Promise<string>;
}

/** `madeAt`: milliseconds since 1970. */
export const Container = z.object({ id: z.string(), madeAt: z.number() });
export type Container = z.infer<typeof Container>;

interface Making {
  readonly step: string;
  /** What it is made of, for the ledger. */
  readonly request: Json;
  fields(): Promise<JsonObject>;
  /** Default: asked of the platform. */
  isGone?(container: Container): Promise<boolean>;
}

interface Publishing {
  readonly step: string;
  readonly container: Container;
  /** The post that the container has become, among those made since then; null: it is not listed. */
  find(since: number): Promise<string | null>;
  live?(id: string | null): LiveAt;
}

/** Containers that fail at no fault of their own, or for media that were not fetched, are made anew so often. */
const MAX_REMADE = 3;
/** Images and texts are ready at once, films after minutes; Meta asks to be asked once a minute at most. */
const ASK_FIRST_MS = 5 * SECOND;
const ASK_LATER_MS = MINUTE;
const READY_WITHIN_MS = HOUR;
const LISTED_AFTER_MS = MINUTE;
/** A container that is published is looked for so often. */
const MAX_LOOKS = 6;
const LOOK_EVERY_MS = 15 * SECOND;

/** The containers of one run of a post; the state of each is asked for once in it. */
export function createContainers(io: PublishIo, api: ContainerApi) {
  const seen = new Map<string, Promise<ContainerStatus>>();
  const look = (id: string): Promise<ContainerStatus> => {
    const asked = seen.get(id) ?? api.read(id);
    seen.set(id, asked);
    return asked;
  };

  /** Whether there is another try after this failure; `what`: of which tries are counted together. */
  const mayRemake = async (failure: string, what = "container"): Promise<boolean> => {
    for (let n = 1; n <= MAX_REMADE; n += 1)
      if ((await io.once(`failed ${what} ${n}`, () => failure)) === failure) return true;
    return false;
  };

  /** It ran out, or failed at no fault of its own. */
  const isGone = async ({ id }: Container): Promise<boolean> => {
    const { state, fault } = await look(id);
    if (state === "EXPIRED") return true;
    return state === "ERROR" && fault?.kind !== "rejected" && mayRemake(id);
  };

  /** What was not fetched may be the next time; after the last one a person has to look. */
  const orGivenUp = async (error: unknown, failure: string, what?: string): Promise<unknown> => {
    const isUnfetched = error instanceof PlatformFault && error.kind === "transient" && error.field !== null;
    if (!isUnfetched || (await mayRemake(failure, what))) return error;
    const { message, cause, httpStatus } = error;
    return new PlatformFault("rejected", message, { cause, ...(httpStatus === null ? {} : { httpStatus }) });
  };

  return {
    isGone,

    /** Makes one; what comes of a lost answer is a container that nobody uses, and that goes by itself. */
    async make({ step, request, fields, ...making }: Making): Promise<Container> {
      const result = await io.effect<Json>({
        step,
        request,
        send: async () => {
          const made = await fields();
          const id = await api.create(made).catch(async (error: unknown) => {
            throw await orGivenUp(error, `at ${io.now()}`, step);
          });
          return { id, madeAt: io.now() };
        },
        reconcile: async () => ({ outcome: "send_again" }),
        isGone: (made) => (making.isGone ?? isGone)(Container.parse(made)),
      });
      return Container.parse(result);
    },

    /**
     * In how many milliseconds to ask again; null: all are ready, or over, which publishing tells. Throws where
     * one cannot become ready.
     */
    async waitFor(containers: readonly Container[]): Promise<number | null> {
      let waitMs: number | null = null;
      for (const { id, madeAt } of containers) {
        const { state, fault } = await look(id);
        if (state === "ERROR")
          throw fault === null
            ? new PlatformFault("rejected", `${api.title} could not use it.`)
            : await orGivenUp(fault, id);
        if (state !== "IN_PROGRESS") continue;
        const ageMs = io.now() - madeAt;
        if (ageMs > READY_WITHIN_MS) throw tooSlow(api.title);
        const nextMs = Math.min(Math.max(ageMs, ASK_FIRST_MS), ASK_LATER_MS);
        waitMs = Math.max(waitMs ?? 0, nextMs);
      }
      return waitMs;
    },

    /** Publishes it, once; gives the post's id, null where it is public and the platform does not tell. */
    async publish({ step, container, find, live }: Publishing): Promise<string | null> {
      const at = { io, api, container, find };
      const result = await io.effect<Json>({
        step,
        request: { creationId: container.id },
        send: (context) => publishOrAdopt(at, context),
        reconcile: (context) => reconcilePublished(at, context),
        ...(live === undefined ? {} : { live: (published) => live(z.string().nullable().parse(published)) }),
      });
      return z.string().nullable().parse(result);
    },
  };
}

export type Containers = ReturnType<typeof createContainers>;

interface At extends Pick<Publishing, "container" | "find"> {
  readonly io: PublishIo;
  readonly api: ContainerApi;
}

/** A refusal may mean that it is published already: by an earlier sending, whose answer was lost. */
async function publishOrAdopt(at: At, { timesSent }: EffectContext): Promise<string | null> {
  const { api, container } = at;
  try {
    return await api.publish(container.id);
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected" || timesSent === 0) throw error;
    if ((await api.read(container.id)).state !== "PUBLISHED") throw error;
    return findPublished(at);
  }
}

/** A container that is published is never published again, and one that is not may be a moment behind. */
async function reconcilePublished(at: At, context: ReconcileContext): Promise<Reconciled<Json>> {
  const { io, api, container } = at;
  const { state } = await api.read(container.id);
  if (state !== "PUBLISHED")
    return reconcileByListing<Json>(context, {
      now: io.now(),
      listedAfterMs: LISTED_AFTER_MS,
      find: () => findPublished(at),
    });
  const id = await findPublished(at);
  if (id === null && context.timesAsked < MAX_LOOKS) return { outcome: "ask_again", afterMs: LOOK_EVERY_MS };
  return { outcome: "done", result: id };
}

/** It was not there before it was made; the platform's clock may be behind ours by a minute. */
function findPublished({ container, find }: At): Promise<string | null> {
  return find(container.madeAt - MINUTE);
}

function tooSlow(title: string): PlatformFault {
  return new PlatformFault(
    "rejected",
    `${title} did not get the media ready within an hour. Check that they play, then send the post again.`,
  );
}
