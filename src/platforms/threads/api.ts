import * as z from "zod";
import { HOUR, MINUTE } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  PlatformFault,
  type PlatformIo,
  type PlatformRequest,
  type SignedRequest,
} from "../../ports/platform-io.ts";
import { bearer, type FaultRule } from "../shared/faults.ts";
import type { ContainerApi, ContainerStatus } from "../shared/meta/containers.ts";
import { Created, GONE, listEntries, metaFaults, PERMISSION_CODES } from "../shared/meta/graph.ts";
import { findFirst } from "../shared/pages.ts";
import { Id } from "../../ports/platform-values.ts";

export const THREADS_HOST = "https://graph.threads.net";

export function threadsUrl(io: Pick<ConnectIo, "setting">): string {
  return `${io.setting("BASE_URL") ?? THREADS_HOST}/v1.0`;
}

const RULES: readonly FaultRule[] = [
  {
    code: "THREADS_API__LINK_LIMIT_EXCEEDED",
    kind: "rejected",
    field: "caption",
    message: "names more addresses than Threads takes. Leave some out.",
  },
  {
    code: "THREADS_API__FEATURE_NOT_AVAILABLE",
    kind: "rejected",
    message: "Threads does not offer this to the account. Leave it out of the post.",
  },
  // What it says of is not ready, or gone: nothing was published.
  {
    code: ["24/4279009", 24],
    kind: "transient",
    message: "Threads has not finished preparing the post.",
    isNotDone: true,
  },
  {
    code: [9, "/2207042"],
    kind: "rate",
    message: "Threads takes no more posts from this account for now. Its quota for 24 hours is used up.",
    retryAfterMs: HOUR,
  },
  {
    // Its media are fetched as Instagram's are.
    code: ["/2207052", "/2207003", 9_004],
    kind: "transient",
    field: "mediaUrl",
    message: unfetched(""),
    isNotDone: true,
  },
  {
    code: ["/2207001", "/2207032", "/2207053", -1],
    kind: "transient",
    message: "Threads has a problem of its own.",
  },
];

function unfetched(word: string): string {
  return `Threads could not fetch the media${word}. Check that POSTHORN_PUBLIC_URL, or the media's own address, can be reached from the internet. Then send the post again.`;
}

export const classify = metaFaults("Threads", RULES);

/** Of what is only asked for beside the post: a permission that is missing there is no end of the channel. */
export const classifyMild = metaFaults("Threads", [
  {
    code: PERMISSION_CODES,
    kind: "rejected",
    message: "Threads does not allow this to the channel. Connect it again and leave all permissions ticked.",
  },
  ...RULES,
]);

/** Takes an answer that says that the object is gone. */
export const classifyGone = metaFaults("Threads", [{ code: GONE, kind: "ok" }, ...RULES]);

type Call = Pick<PlatformRequest, "method" | "query" | "form" | "classify" | "isIdempotent">;

export function call(io: PlatformIo, path: string, parts: Call): SignedRequest {
  return { classify, ...parts, url: `${threadsUrl(io)}/${path}`, sign: bearer() };
}

const Status = z.looseObject({
  status: z.enum(["IN_PROGRESS", "FINISHED", "PUBLISHED", "ERROR", "EXPIRED"]),
  error_message: z.string().nullish().catch(null),
});
const Gone = z.looseObject({ error: z.looseObject({}) }).transform(() => null);

export function containerApi(io: PlatformIo): ContainerApi {
  return {
    title: "Threads",
    async create(fields) {
      const form = z.record(z.string(), z.union([z.string(), z.boolean()])).parse(fields);
      // A container that nobody publishes goes by itself.
      return (await io.ask(call(io, "me/threads", { method: "POST", form, isIdempotent: true }), Created)).id;
    },
    async read(id): Promise<ContainerStatus> {
      const query = { fields: "status,error_message" };
      const request = call(io, id, { method: "GET", query, classify: classifyGone });
      const answer = await io.ask(request, z.union([Status, Gone]));
      if (answer === null) return { state: "EXPIRED", fault: null };
      const { status: state, error_message: why } = answer;
      return { state, fault: state === "ERROR" ? faultOf(why ?? "UNKNOWN") : null };
    },
    async publish(id) {
      const form = { creation_id: id };
      return (await io.ask(call(io, "me/threads_publish", { method: "POST", form }), Created)).id;
    },
  };
}

/** What Threads could not do with the media; what failed at downloading may work with another container. */
function faultOf(why: string): PlatformFault {
  const word = /^[A-Z_]{1,60}$/.exec(why)?.[0] ?? "UNKNOWN";
  if (!word.startsWith("INVALID_")) {
    return new PlatformFault("transient", unfetched(` (${word})`), { field: "mediaUrl", isNotDone: true });
  }
  const message = `Threads cannot show the media (${word}). Give an MP4 or MOV with H.264 and AAC of at most 5 minutes, or a JPEG.`;
  return new PlatformFault("rejected", message, { field: "mediaUrl" });
}

const Listed = z.looseObject({
  id: Id,
  text: z.string().nullish(),
  timestamp: z.string().transform((text) => Date.parse(text)),
});

/** The newest of the account's posts, or replies, with this text since then; null: none is listed. */
export async function findPost(
  io: PlatformIo,
  { text, since, isReply }: { readonly text: string; readonly since: number; readonly isReply: boolean },
): Promise<string | null> {
  const query = { fields: "id,text,timestamp", since: Math.floor(since / 1_000) };
  const request = call(io, isReply ? "me/replies" : "me/threads", {
    method: "GET",
    query,
    classify: classifyMild,
  });
  const listed = listEntries(io, request, Listed, {
    maxPages: 4,
    until: ({ timestamp }) => timestamp < since,
  });
  const wanted = plain(text);
  const found = await findFirst(
    listed,
    (one) => one.timestamp >= since - MINUTE && plain(one.text) === wanted,
  );
  return found?.id ?? null;
}

function plain(text: string | null | undefined): string {
  return (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
}
