import * as z from "zod";
import { HOUR, MINUTE, SECOND } from "../../../domain/time.ts";
import { PlatformFault, type Json, type JsonObject, type SignedRequest } from "../../../ports/platform-io.ts";
import type {
  EffectContext,
  LiveAt,
  PublishIo,
  Reconciled,
  ReconcileContext,
} from "../../../ports/publish-io.ts";
import { Id } from "../../../ports/platform-values.ts";
import type { MediaItem } from "../../../ports/media.ts";
import type { FaultRule } from "../faults.ts";
import { inOrder } from "../media.ts";
import { findFirst } from "../pages.ts";
import { reconcileByListing } from "../reconcile.ts";
import type { ApiCall } from "../rest-api.ts";
import { Created, listEntries, Moment } from "./graph.ts";

/** Where a container is: a post that is being made ready, unseen. */
interface ContainerStatus {
  readonly state: "IN_PROGRESS" | "FINISHED" | "PUBLISHED" | "ERROR" | "EXPIRED";
  /** What is wrong with one in ERROR; null for every other. */
  readonly fault: PlatformFault | null;
}

/** What Instagram and Threads have in common: a container is created, becomes ready, and is published once. */
export interface ContainerApi {
  readonly title: string;
  /** Where containers are created ("me/threads"); with `_publish` behind it, where they are published. */
  readonly path: string;
  /** For what the channel can do without. */
  readonly mild: readonly FaultRule[];
  ask<T>(call: ApiCall, schema: z.ZodType<T>): Promise<T>;
  /**
   * Makes a container of a film whose fields say that it is sent, and sends it as far as it is not there yet;
   * gives the container's id. Left out: the platform takes none.
   */
  upload?(film: SentFilm, context: EffectContext): Promise<string>;
  /** Whether a picture that was refused so may be taken in another shape. Default: never. */
  mayRefit?(refusal: unknown): boolean;
  /** What the answer says beside the post's id, before it is stored that it is out. */
  published?(answer: z.infer<typeof Created>): Promise<void>;
  /** One that is not there any more is EXPIRED. */
  read(id: string): Promise<ContainerStatus>;
}

/** A film that is sent, as it cannot be fetched, and what its container is made with. */
export interface SentFilm {
  readonly item: MediaItem;
  readonly form: z.infer<typeof Form>;
}

/** Among a container's fields: its film is sent. */
export const SENT = { upload_type: "resumable" } as const;

const Permalink = z.looseObject({
  permalink: z
    .url({ protocol: /^https$/ })
    .nullish()
    .catch(null),
});

/** Where people see a post; null where the platform does not say. */
export async function readPermalink(api: ContainerApi, id: string | null): Promise<string | null> {
  if (id === null) return null;
  try {
    const call = { path: id, query: { fields: "permalink" }, rules: api.mild };
    return (await api.ask(call, Permalink)).permalink ?? null;
  } catch (error) {
    // It is public all the same.
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

const Listed = z.looseObject({
  id: Id,
  caption: z.string().nullish(),
  text: z.string().nullish(),
  timestamp: Moment,
});

/** The newest post of a list that was made since then and has this text, or any; null: none. */
export async function findNewest(
  io: PublishIo,
  request: SignedRequest,
  {
    text,
    since,
    slackMs = 0,
  }: { readonly text: string | null; readonly since: number; readonly slackMs?: number },
): Promise<string | null> {
  const listed = listEntries(io, request, Listed, {
    maxPages: 4,
    until: ({ timestamp }) => timestamp < since,
  });
  const found = await findFirst(
    listed,
    (one) =>
      one.timestamp >= since - slackMs && (text === null || plain(one.caption ?? one.text) === plain(text)),
  );
  return found?.id ?? null;
}

/** A text as it is compared: platforms trim and fold white space. */
export function plain(text: string | null | undefined): string {
  return (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
}

/** `madeAt`: milliseconds since 1970. */
const Container = z.object({ id: z.string(), madeAt: z.number() });
export type Container = z.infer<typeof Container>;

interface Making {
  readonly step: string;
  /** What it is made of, for the ledger. */
  readonly request: Json;
  /** The single item in it; null: it is made of other containers, or of words. */
  readonly item: MediaItem | null;
  /** `isRefit`: it was refused for its shape, and is made once more in another. */
  fields(isRefit: boolean): Promise<JsonObject>;
  /** Default: asked of the platform. */
  isGone?(container: Container): Promise<boolean>;
}

/** One post, of several items or of one. */
interface Preparing {
  readonly step: string;
  /** The step that publishes it: afterwards nothing is waited for. */
  readonly publishStep: string;
  readonly request: Json;
  readonly items: readonly MediaItem[];
  /** The name of the step of an item; `nth` from 1. */
  itemStep(nth: number): string;
  /** What makes an item of several. */
  fieldsOf(item: MediaItem, isRefit: boolean): Promise<JsonObject>;
  /** What makes the whole. `children`: the ids of its items, where there are several. */
  fields(children: readonly string[], isRefit: boolean): Promise<JsonObject>;
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

  /** Whether there is another try after this failure; `what`: the tries that are counted together. */
  const canRecreate = async (failure: string, what = "container"): Promise<boolean> => {
    for (let n = 1; n <= MAX_REMADE; n += 1)
      if ((await io.once(`failed ${what} ${n}`, () => failure)) === failure) return true;
    return false;
  };

  /** A container ran out, or failed at no fault of its own. */
  const isGone = async ({ id }: Container): Promise<boolean> => {
    const { state, fault } = await look(id);
    if (state === "EXPIRED") return true;
    return state === "ERROR" && fault?.kind !== "rejected" && canRecreate(id);
  };

  /** What was not fetched may be the next time; after the last one a person has to look. */
  const failAfterRetries = async (error: unknown, failure: string, what?: string): Promise<unknown> => {
    const isUnfetched = error instanceof PlatformFault && error.kind === "transient" && error.field !== null;
    if (!isUnfetched || (await canRecreate(failure, what))) return error;
    const { message, cause, httpStatus } = error;
    return new PlatformFault("rejected", message, { cause, ...(httpStatus === null ? {} : { httpStatus }) });
  };

  const create = async (
    fields: JsonObject,
    item: MediaItem | null,
    context: EffectContext,
  ): Promise<string> => {
    const form = Form.parse(fields);
    const isSent = form["upload_type"] === SENT.upload_type;
    if (isSent && item !== null && api.upload !== undefined) return api.upload({ item, form }, context);
    // One too many costs only its part of the quota.
    return (await api.ask({ method: "POST", path: api.path, form, isIdempotent: true }, Created)).id;
  };

  /** What comes of a lost answer is a container that is not used, and that goes by itself. */
  const make = async ({ step, request, item, fields, ...making }: Making): Promise<Container> => {
    const result = await io.effect<Json>({
      step,
      request,
      send: async (context) => {
        const attempt = async (isRefit: boolean) => create(await fields(isRefit), item, context);
        const id = await attempt(false)
          .catch((error: unknown) => {
            if (item === null || api.mayRefit?.(error) !== true) throw error;
            return attempt(true);
          })
          .catch(async (error: unknown) => {
            throw await failAfterRetries(error, `at ${io.now()}`, step);
          });
        return { id, madeAt: io.now() };
      },
      reconcile: async () => ({ outcome: "send_again" }),
      isGone: (made) => (making.isGone ?? isGone)(Container.parse(made)),
    });
    return Container.parse(result);
  };

  /**
   * In how many milliseconds to ask again; null: all are ready, or over, which publishing tells. Throws where
   * one cannot become ready.
   */
  const waitFor = async (containers: readonly Container[]): Promise<number | null> => {
    let waitMs: number | null = null;
    for (const { id, madeAt } of containers) {
      const { state, fault } = await look(id);
      if (state === "ERROR")
        throw fault === null
          ? new PlatformFault("rejected", `${api.title} could not use it.`)
          : await failAfterRetries(fault, id);
      if (state !== "IN_PROGRESS") continue;
      const ageMs = io.now() - madeAt;
      if (ageMs > READY_WITHIN_MS) throw tooSlow(api.title);
      const nextMs = Math.min(Math.max(ageMs, ASK_FIRST_MS), ASK_LATER_MS);
      waitMs = Math.max(waitMs ?? 0, nextMs);
    }
    return waitMs;
  };

  return {
    /** The container that is ready to be published, or in how many milliseconds to ask again. */
    async prepare({ step, publishStep, request, items, ...of }: Preparing): Promise<Container | number> {
      // Once the whole stands, what has become of it says what has become of its items.
      const parent = Container.safeParse(io.resultOf(step)).data;
      const children = await inOrder(items.length < 2 ? [] : items, (item, at) =>
        make({
          step: of.itemStep(at + 1),
          request: { url: item.url, altText: item.altText },
          item,
          fields: async (isRefit) => ({ is_carousel_item: true, ...(await of.fieldsOf(item, isRefit)) }),
          isGone: (container) => isGone(parent ?? container),
        }),
      );
      const childrenMs = io.resultOf(step) === null ? await waitFor(children) : null;
      if (childrenMs !== null) return childrenMs;
      const fields = (isRefit: boolean) =>
        of.fields(
          children.map(({ id }) => id),
          isRefit,
        );
      const [item = null] = items.length === 1 ? items : [];
      const container = await make({ step, request, item, fields });
      const isOut = io.resultOf(publishStep) !== null;
      return (isOut ? null : await waitFor([container])) ?? container;
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

const Form = z.record(z.string(), z.union([z.string(), z.boolean()]));

/** Gives the post's id. Throws `isNotDone` where the container is gone, or not ready yet. */
async function release({ api, container }: ReleaseContext): Promise<string> {
  const form = { creation_id: container.id };
  const answer = await api.ask({ method: "POST", path: `${api.path}_publish`, form }, Created);
  await api.published?.(answer);
  return answer.id;
}

interface ReleaseContext extends Pick<Publishing, "container" | "find"> {
  readonly io: PublishIo;
  readonly api: ContainerApi;
}

/** A refusal may mean that it is published already: by an earlier sending, whose answer was lost. */
async function publishOrAdopt(at: ReleaseContext, { timesSent }: EffectContext): Promise<string | null> {
  const { api, container } = at;
  try {
    return await release(at);
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected" || timesSent === 0) throw error;
    if ((await api.read(container.id)).state !== "PUBLISHED") throw error;
    return findPublished(at);
  }
}

/** A container that is published is never published again, and one that is not may be a moment behind. */
async function reconcilePublished(at: ReleaseContext, context: ReconcileContext): Promise<Reconciled<Json>> {
  const { io, api, container } = at;
  const { state } = await api.read(container.id);
  if (state !== "PUBLISHED")
    return reconcileByListing<Json>(context, {
      io,
      listedAfterMs: LISTED_AFTER_MS,
      find: () => findPublished(at),
    });
  const id = await findPublished(at);
  if (id === null && context.timesAsked < MAX_LOOKS) return { outcome: "ask_again", afterMs: LOOK_EVERY_MS };
  return { outcome: "done", result: id };
}

/** It was not there before it was made; the platform's clock may be behind ours by a minute. */
function findPublished({ container, find }: ReleaseContext): Promise<string | null> {
  return find(container.madeAt - MINUTE);
}

function tooSlow(title: string): PlatformFault {
  return new PlatformFault(
    "rejected",
    `${title} did not get the media ready within an hour. Check that they play, then send the post again.`,
  );
}
