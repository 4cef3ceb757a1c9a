import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { HOUR } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, type FaultRule, faultsBy } from "../shared/faults.ts";
import { facebookUrl } from "../shared/meta/accounts.ts";
import type { ContainerApi } from "../shared/meta/containers.ts";
import { GONE, graphUrl, metaFaults, proofOf, withoutPermission } from "../shared/meta/graph.ts";
import { restApi } from "../shared/rest-api.ts";

export const INSTAGRAM_HOST = "https://graph.instagram.com";

/** How the account was connected; an Instagram account of a Facebook Page is asked for at Facebook. */
export function isOfPage({ account }: Pick<PlatformIo, "account">): boolean {
  return account.settings["login"] === "facebook";
}

export function instagramUrl(io: Pick<ConnectIo, "setting">): string {
  return graphUrl(io, INSTAGRAM_HOST);
}

/** The professional account's id. */
export function accountId({ account }: Pick<PlatformIo, "account">): string {
  if (account.platformAccountId !== null) return account.platformAccountId;
  throw new AppError("conflict", "The channel does not say which Instagram account it is. Connect it again.");
}

/** The Graph API as the account. Facebook's app may demand a proof beside the token of a Page. */
export const { ask, askOrGone, askWith, request, send, sendOrGone } = restApi({
  base: (io) => (isOfPage(io) ? facebookUrl(io) : instagramUrl(io)),
  below: "/",
  sign({ accessToken = "", pageToken }, io, { form }) {
    const headers = { authorization: `Bearer ${pageToken ?? accessToken}` };
    if (pageToken === undefined) return { headers };
    const proof = proofOf(io.setting("CLIENT_SECRET", "facebook"), pageToken);
    return form === undefined ? { headers, query: proof } : { headers, form: proof };
  },
  gone: [{ code: GONE }],
  faults: () => FAULTS,
});

/** A picture was refused for its shape. */
export class ShapeRefused extends PlatformFault {}
const SHAPE = "/2207009";

const OF_SHAPE: FaultRule = {
  code: SHAPE,
  fault: () =>
    new ShapeRefused("rejected", "Instagram takes pictures from 3:4 to 1.91:1. Crop it.", {
      field: "mediaUrl",
    }),
};

const unfit = (code: string, message: string, field = "mediaUrl"): FaultRule => ({
  code,
  kind: "rejected",
  message,
  field,
});

const passing = (code: readonly (string | number)[], message: string) =>
  ({
    code,
    kind: "transient",
    message,
    // What it says of: nothing was published.
    isNotDone: true,
  }) as const;

/** One picture of several is not fetched now and then, and is the next time: github.com/gitroomhq/postiz-app/pull/1900 */
const unfetched = (code: readonly (string | number)[], message: string): FaultRule => ({
  ...passing(code, message),
  field: "mediaUrl",
});

/**
 * By subcode, as a container that failed names nothing else.
 * https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes
 */
const RULES: readonly FaultRule[] = [
  {
    code: "/2207042",
    kind: "rate",
    retryAfterMs: HOUR,
    message: "Instagram takes no more posts from this account for now. Its quota for 24 hours is used up.",
  },
  ...byCode("rejected", {
    "/2207051":
      "Instagram refused the post as spam. Check in the app whether the account is restricted, and do not repeat the post soon.",
    "/2207050":
      "Instagram has restricted this account. Open the Instagram app, settle what it asks for, then send the post again.",
  }),
  passing(["/2207027", "/2207008"], "Instagram has not finished preparing the post."),
  passing(["/2207006", "/2207020"], "What was prepared for the post has expired. It is prepared again."),
  unfetched(
    ["/2207003"],
    "Instagram could not fetch the media in time. Check that they come fast enough from POSTHORN_PUBLIC_URL, or from their own address, then send the post again.",
  ),
  ...byCode("transient", { "/2207001 /2207032 /2207053 -1": "Instagram has a problem of its own." }),
  unfetched(
    ["/2207052", 9_004],
    "Instagram could not fetch the media. Check that POSTHORN_PUBLIC_URL, or the media's own address, can be reached from the internet without a login, and that robots.txt lets facebookexternalhit in. Then send the post again.",
  ),
  unfit(
    "/2207026",
    "Instagram cannot read this kind of video. Give an MP4 or MOV with H.264 or HEVC and AAC.",
  ),
  unfit("/2207004", "is too large for Instagram. Give a picture of at most 8 MB."),
  unfit("/2207005", "Instagram takes pictures only as JPEG. Give one."),
  unfit("/2207028", "an Instagram carousel has two to ten items. Change their number.", "metadata.moreMedia"),
  unfit(
    "/2207010",
    "is too long for Instagram, which takes 2,200 characters and 30 hashtags. Shorten it.",
    "caption",
  ),
  unfit("/2207040", "names more people than the 20 that Instagram takes. Leave some out.", "caption"),
  unfit("/2207057", "is not a moment of the video. Give another.", "metadata.thumbOffsetMs"),
];

const FAULTS = metaFaults("Instagram", [OF_SHAPE, ...RULES]);
export const classify = faultsBy(FAULTS);

/** For what is only asked for beside the post. */
export const NOT_ALLOWED =
  "Instagram does not allow this to the channel. Connect it again and leave all permissions ticked.";
export const MILD = withoutPermission(NOT_ALLOWED);

/** What containers are made with. */
export function apiOf(io: PlatformIo): ContainerApi {
  return {
    title: "Instagram",
    path: `${accountId(io)}/media`,
    mild: MILD,
    ask: (call, schema) => ask(io, call, schema),
    async read(id) {
      const query = { fields: "status_code,status" };
      const answer = await askOrGone(io, { path: id, query }, Status);
      if (answer === null) return { state: "EXPIRED", fault: null };
      const { status_code: state, status } = answer;
      return { state, fault: state === "ERROR" ? faultOfContainer(status) : null };
    },
  };
}

const Status = z.looseObject({
  status_code: z.enum(["IN_PROGRESS", "FINISHED", "PUBLISHED", "ERROR", "EXPIRED"]),
  status: z.string().catch(""),
});

/** What a container's `status` says once it failed: "Error: … with error code 2207026". */
function faultOfContainer(status: string): PlatformFault | null {
  const subcode = /\b220\d{4}\b/.exec(status)?.[0];
  const json = { error: { code: 0, ...(subcode === undefined ? {} : { error_subcode: Number(subcode) }) } };
  const response: PlatformResponse = { status: 400, headers: {}, text: status, json };
  const fault = classify(response);
  return fault === "ok" ? null : fault;
}
