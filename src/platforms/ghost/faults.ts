import * as z from "zod";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { faultsBy, type Code } from "../shared/faults.ts";

/** https://docs.ghost.org/admin-api/#errors */
const Errors = z.looseObject({
  errors: z
    .array(
      z.looseObject({
        message: z.string().catch(""),
        context: z.string().nullish().catch(null),
        type: z.string().catch(""),
        code: z.string().nullish().catch(null),
        property: z.string().nullish().catch(null),
      }),
    )
    .min(1),
});

/** The library that Ghost reads tokens with says so in words alone. */
const CLOCK = /jwt expired|maxAge exceeded|jwt not active|iat/;

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const [error] = status < 400 ? [] : (Errors.safeParse(json).data?.errors ?? []);
  if (error === undefined) return [];
  const { code, type, property, message, context } = error;
  const words = `${message} ${context ?? ""}`;
  const found = [
    code === "INVALID_JWT" && CLOCK.test(words) ? "clock" : "",
    /newsletter/i.test(words) ? "newsletter" : "",
    property ?? "",
    code ?? "",
    type,
  ];
  return found.filter((one) => one !== "");
}

export const classify = faultsBy({
  title: "Ghost",
  codesOf,
  rules: [
    {
      status: [301, 302, 307, 308],
      kind: "auth",
      message: "The site has moved to another address. Reconnect the channel with the one it has now.",
    },
    {
      code: "clock",
      kind: "setup",
      message:
        "The site says that the key has expired: its clock and that of Posthorn's server differ by minutes. Set both clocks.",
    },
    {
      code: ["UNKNOWN_ADMIN_API_KEY", "INVALID_JWT", "INVALID_API_KEY_TYPE", "MISSING_ADMIN_API_KID"],
      kind: "auth",
      message: "Ghost does not know the key (any more). Make a new one under Settings, Integrations.",
    },
    {
      code: "UpdateCollisionError",
      kind: "transient",
      isNotDone: true,
      message: "Another person is editing the post.",
    },
    {
      status: 503,
      code: "MaintenanceError",
      kind: "transient",
      isNotDone: true,
      message: "The site is starting, or being upgraded.",
    },
    {
      code: "HostLimitError",
      kind: "rejected",
      message: "The site's plan does not allow this. Its owner can look at its limits under Settings.",
    },
    {
      status: 413,
      kind: "rejected",
      field: "mediaUrl",
      message: "the site refused the file as too large. Give a smaller one, then send the post again.",
    },
    {
      status: 415,
      kind: "rejected",
      field: "mediaUrl",
      message: "the site does not take files of this type. Give another one, then send the post again.",
    },
    {
      code: "newsletter",
      status: 400,
      kind: "rejected",
      field: "metadata.newsletter",
      message: "the site has no such newsletter, or it is archived. Choose one that it has.",
    },
    ...[
      ["title", "title"],
      ["authors", "authors"],
      ["canonical_url", "canonicalUrl"],
      ["custom_excerpt", "description"],
      ["slug", "slug"],
      ["tags", "tags"],
    ].map(([code = "", name = ""]) => ({
      code,
      kind: "rejected" as const,
      field: `metadata.${name}`,
      message: "Ghost refused it. Change it, then send the post again.",
    })),
    {
      status: 403,
      kind: "rejected",
      message: "The site does not let this integration do that. Its owner can look at it under Settings.",
    },
    { status: 404, kind: "rejected", message: "It is not on the site any more. It was deleted there." },
  ],
});
