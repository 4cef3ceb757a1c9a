import * as z from "zod";
import { HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { byCode, type FaultRule, refusedField } from "../shared/faults.ts";
import { type ContainerApi, findNewest } from "../shared/meta/containers.ts";
import { GONE, metaFaults, withoutPermission } from "../shared/meta/graph.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

export const THREADS_HOST = "https://graph.threads.net";

export function threadsUrl(io: Pick<ConnectIo, "setting">): string {
  return `${io.setting("BASE_URL") ?? THREADS_HOST}/v1.0`;
}

const RULES: readonly FaultRule[] = [
  ...refusedField("caption", {
    THREADS_API__LINK_LIMIT_EXCEEDED: "names more addresses than Threads takes. Leave some out.",
  }),
  ...byCode("rejected", {
    THREADS_API__FEATURE_NOT_AVAILABLE:
      "Threads does not offer this to the account. Leave it out of the post.",
  }),
  {
    // What it says of is not ready, or gone: nothing was published.
    code: ["24/4279009", 24],
    kind: "transient",
    isNotDone: true,
    message: "Threads has not finished preparing the post.",
  },
  {
    code: [9, "/2207042"],
    kind: "rate",
    retryAfterMs: HOUR,
    message: "Threads takes no more posts from this account for now. Its quota for 24 hours is used up.",
  },
  {
    // Its media are fetched as Instagram's are.
    code: ["/2207052", "/2207003", 9004],
    kind: "transient",
    field: "mediaUrl",
    isNotDone: true,
    message: unfetched(""),
  },
  ...byCode("transient", { "/2207001 /2207032 /2207053 -1": "Threads has a problem of its own." }),
];

function unfetched(word: string): string {
  return `Threads could not fetch the media${word}. Check that POSTHORN_PUBLIC_URL, or the media's own address, can be reached from the internet. Then send the post again.`;
}

export const { ask, askOrGone, askWith, request, sendOrGone } = restApi({
  base: threadsUrl,
  below: "/",
  gone: [{ code: GONE }],
  faults: () => metaFaults("Threads", RULES),
});

/** For what is only asked for beside the post. */
export const NOT_ALLOWED =
  "Threads does not allow this to the channel. Connect it again and leave all permissions ticked.";
export const MILD = withoutPermission(NOT_ALLOWED);

/** What channels that were connected before it was offered are not allowed. */
function needsMore({ form = {} }: ApiCall): boolean {
  return form["location_id"] !== undefined || form["crossreshare_to_ig"] !== undefined;
}

const Status = z.looseObject({
  status: z.enum(["IN_PROGRESS", "FINISHED", "PUBLISHED", "ERROR", "EXPIRED"]),
  error_message: z.string().nullish().catch(null),
});

/** What containers are made with. */
export function apiOf(io: PlatformIo): ContainerApi {
  return {
    title: "Threads",
    path: "me/threads",
    mild: MILD,
    ask: (call, schema) => ask(io, needsMore(call) ? { ...call, rules: MILD } : call, schema),
    async read(id) {
      const query = { fields: "status,error_message" };
      const answer = await askOrGone(io, { path: id, query }, Status);
      if (answer === null) return { state: "EXPIRED", fault: null };
      const { status: state, error_message: why } = answer;
      return { state, fault: state === "ERROR" ? faultOf(why ?? "UNKNOWN") : null };
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

/** The newest of the account's posts, or replies, with this text since then; null: none is listed. */
export function findPost(
  io: PublishIo,
  { text, since, isReply }: { readonly text: string; readonly since: number; readonly isReply: boolean },
): Promise<string | null> {
  const query = { fields: "id,text,timestamp", since: Math.floor(since / SECOND) };
  const asked = request(io, { path: isReply ? "me/replies" : "me/threads", query, rules: MILD });
  return findNewest(io, asked, { text, since, slackMs: MINUTE });
}
