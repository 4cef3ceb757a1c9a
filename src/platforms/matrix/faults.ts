import * as z from "zod";
import { faultsBy, type FaultRule, type FaultTable } from "../shared/faults.ts";

const Refusal = z.looseObject({ errcode: z.string(), retry_after_ms: z.number().min(0).optional() });

const codesOf: FaultTable["codesOf"] = ({ status, json }) => {
  const { data } = Refusal.safeParse(json);
  return status < 300 || data === undefined ? [] : [data.errcode];
};

/** https://spec.matrix.org/latest/client-server-api/#standard-error-response */
const RULES: readonly FaultRule[] = [
  {
    status: 429,
    kind: "rate",
    message: "The server asks to slow down.",
    // Older servers tell it here alone.
    retryAfterMs: ({ json }) => Refusal.safeParse(json).data?.retry_after_ms ?? null,
  },
  {
    code: ["M_USER_LOCKED", "M_USER_DEACTIVATED", "M_USER_SUSPENDED"],
    kind: "auth",
    message: "The server has locked, suspended or deactivated this account. Settle that with it first.",
  },
  {
    code: "M_CONSENT_NOT_GIVEN",
    kind: "auth",
    message:
      "The server asks you to accept its terms first. Sign in with an app, accept them, and reconnect.",
  },
  {
    status: 401,
    kind: "auth",
    message: "The server no longer accepts the access token. Its session was signed out.",
  },
  {
    code: "M_RESOURCE_LIMIT_EXCEEDED",
    kind: "setup",
    message: "The server has reached a limit and takes no messages. Ask its administrator.",
  },
];

export const classify = faultsBy({
  title: "Matrix",
  codesOf,
  rules: [
    ...RULES,
    {
      status: 403,
      kind: "rejected",
      message: "The server does not let this account do that. Do it in an app.",
    },
  ],
});

/** For signing in with a password. */
export const classifyLogin = faultsBy({
  title: "Matrix",
  codesOf,
  rules: [
    ...RULES.slice(0, 2),
    {
      code: "M_FORBIDDEN",
      kind: "rejected",
      message: "the server does not accept it for this user. Check both.",
    },
    {
      status: [400, 403, 404],
      kind: "rejected",
      message: "this server takes no passwords from apps. Connect with an access token instead.",
    },
  ],
});

/** For messages: who is not let in must be let in by a person. */
export const classifySending = faultsBy({
  title: "Matrix",
  codesOf,
  rules: [
    ...RULES,
    {
      status: [403, 404],
      kind: "auth",
      message:
        "The account may not post in the room, or is not in it any more. Invite it again, or raise its power level.",
    },
    {
      status: 413,
      kind: "rejected",
      field: "caption",
      message: "is too long for a message on Matrix. Shorten it, then send the post again.",
    },
  ],
});

export const classifyUpload = faultsBy({
  title: "Matrix",
  codesOf,
  rules: [
    ...RULES,
    {
      status: 413,
      kind: "rejected",
      field: "mediaUrl",
      message: "the server refused the file as too large. Give a smaller one, then send the post again.",
    },
    {
      status: 403,
      kind: "rejected",
      field: "mediaUrl",
      message: "the server does not take files of this type, or takes no more from this account.",
    },
  ],
});
