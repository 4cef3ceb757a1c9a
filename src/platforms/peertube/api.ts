import * as z from "zod";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import {
  byCode,
  type Code,
  type FaultRule,
  type FaultTable,
  refusedField,
  TOO_LARGE_FILE,
} from "../shared/faults.ts";
import { serverOf } from "../shared/servers.ts";
import { restApi } from "../shared/rest-api.ts";

export const KIND = { title: "PeerTube", example: "https://peertube.example" } as const;

/** Below /api/v1: videos, users/me. */
export const {
  ask: askOwn,
  askOrGone,
  send: own,
  sendOrGone: ownOrGone,
  askWith: askServer,
  requestWith,
} = restApi({
  base: serverOf,
  below: "/api/v1/",
  faults: () => FAULTS,
});

const Problem = z.looseObject({
  type: z.string().catch(""),
  code: z.string().catch(""),
  "invalid-params": z.record(z.string(), z.unknown()).catch({}),
});

/** The word of the error (RFC 7807, https://docs.joinpeertube.org/api-rest-reference.html#section/Errors). */
function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = Problem.safeParse(json);
  if (status < 400 || !body.success) return [];
  const { type, code, "invalid-params": params } = body.data;
  const word = code || (/Errors\/(\w+)$/.exec(type)?.[1] ?? "");
  return [word, ...Object.keys(params).map((name) => `param:${name}`)].filter((one) => one !== "");
}

/** What it objects to, by the name of the parameter. */
const FIELDS: readonly (readonly [param: string, field: string])[] = [
  ["name", "metadata.title"],
  ["description", "caption"],
  ["tags", "metadata.tags"],
  ["category", "metadata.categoryId"],
  ["licence", "metadata.licenseId"],
  ["language", "metadata.language"],
  ["support", "metadata.support"],
  ["thumbnailfile", "metadata.thumbnailUrl"],
  ["scheduleUpdate.updateAt", "scheduledAt"],
  ["filename", "mediaUrl"],
];

const RULES: readonly FaultRule[] = [
  ...byCode("rejected", {
    quota_reached:
      "The server's space for this account is used up, for the day or for good. Delete videos there, ask its administrator for more, or wait a day. Then send the post again.",
  }),
  ...refusedField("mediaUrl", {
    max_file_size_reached:
      "the server does not take files of this size. Give a smaller one, then send the post again.",
  }),
  ...FIELDS.flatMap(([param, field]) =>
    refusedField(field, {
      [`param:${param}`]: "the server does not take this. Change it, then send the post again.",
    }),
  ),
  ...byCode("auth", {
    "invalid_grant invalid_token account_blocked account_approval_rejected":
      "The server does not accept the channel's credentials any more.",
  }),
  TOO_LARGE_FILE,
  {
    status: [415, 422],
    kind: "rejected",
    field: "mediaUrl",
    message: "the server could not use the file. Give an MP4, then send the post again.",
  },
  { status: 409, kind: "transient", message: "The server has a different part of the file than expected." },
  {
    status: 403,
    kind: "rejected",
    message: "The server does not let this account do that. Its administrator may say why.",
  },
  {
    status: 404,
    kind: "rejected",
    message: "The server does not have, or no longer has, what was asked for.",
  },
];

/** How answers of a server are read. */
export const FAULTS: FaultTable = { title: "PeerTube", codesOf, rules: RULES };
