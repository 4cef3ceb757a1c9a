import * as z from "zod";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { faultsBy, type Code, type FaultRule } from "../shared/faults.ts";

const Body = z.looseObject({ error: z.looseObject({ code: z.string() }) });

function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = Body.safeParse(json);
  return status >= 400 && body.success ? [body.data.error.code] : [];
}

const SMALLER = "Give a smaller one, then send the post again.";

const RULES: readonly FaultRule[] = [
  {
    code: ["CREDENTIAL_REQUIRED", "AUTHENTICATION_FAILED"],
    kind: "auth",
    message: "The server does not take the channel's token any more. Reconnect the channel.",
  },
  {
    code: ["PERMISSION_DENIED", "ACCESS_DENIED"],
    kind: "auth",
    message: "The channel's token may not do this. Reconnect it and allow everything that is asked for.",
  },
  {
    code: ["YOUR_ACCOUNT_SUSPENDED", "YOUR_ACCOUNT_MOVED"],
    kind: "auth",
    message: "The server has suspended this account, or it has moved. Settle that with the server first.",
  },
  {
    code: "ROLE_PERMISSION_DENIED",
    kind: "rejected",
    message: "The account has no role on its server that lets it do this. Ask the server's administrators.",
  },
  {
    code: "NO_SUCH_FILE",
    kind: "rejected",
    field: "mediaUrl",
    message: "the file was deleted from the server's drive in the meantime. Send the post again.",
  },
  {
    code: "NO_SUCH_REPLY_TARGET",
    kind: "rejected",
    message: "The note that this one replies to was deleted.",
  },
  {
    code: "CONTAINS_PROHIBITED_WORDS",
    kind: "rejected",
    field: "caption",
    message: "has words that this server does not allow. Change it, then send the post again.",
  },
  {
    code: "CONTAINS_TOO_MANY_MENTIONS",
    kind: "rejected",
    field: "caption",
    message: "mentions more people than this server allows. Take some out, then send the post again.",
  },
  {
    code: "NO_FREE_SPACE",
    kind: "rejected",
    field: "mediaUrl",
    message: "the account's drive is full. Delete files there, then send the post again.",
  },
  {
    code: "INAPPROPRIATE",
    kind: "rejected",
    field: "mediaUrl",
    message: "the server takes the file for something it does not allow. Give another one.",
  },
  {
    code: ["UNALLOWED_FILE_TYPE", "INVALID_FILE_NAME"],
    kind: "rejected",
    field: "mediaUrl",
    message: "the server does not take files of this type from this account. Give another one.",
  },
  {
    code: "MAX_FILE_SIZE_EXCEEDED",
    kind: "rejected",
    field: "mediaUrl",
    message: `the server refused the file as too large. ${SMALLER}`,
  },
  {
    status: 413,
    kind: "rejected",
    field: "mediaUrl",
    message: `the server refused the file as too large. ${SMALLER}`,
  },
  {
    code: "COMMENT_TOO_LONG",
    kind: "rejected",
    field: "metadata.altText",
    message: "is longer than this server takes. Shorten it, then send the post again.",
  },
];

const title = "Misskey";

export const classify = faultsBy({ title, codesOf, rules: RULES });

/** For what is asked about a note that may be gone. */
export const classifyGone = faultsBy({
  title,
  codesOf,
  rules: [{ code: "NO_SUCH_NOTE", kind: "ok" }, ...RULES],
});
