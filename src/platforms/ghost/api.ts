import { createHmac } from "node:crypto";
import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { Secrets } from "../../ports/connect.ts";
import type { PlatformResponse, RequestSignature } from "../../ports/platform-io.ts";
import { byCode, type Code, type FaultTable, refusedField } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";
import { serverOf } from "../shared/servers.ts";

export const ADMIN_KEY = /^([0-9a-f]{24}):((?:[0-9a-f]{2}){16,128})$/i;

export const {
  ask: call,
  askOrGone: callOrGone,
  askWith: callWith,
} = restApi({
  base: serverOf,
  below: "/ghost/api/admin",
  // What Ghost 5 and 6 both know.
  headers: () => ({ accept: "application/json", "accept-version": "v5.0" }),
  sign: (secrets, io) => signed(secrets, io.now()),
  faults: () => FAULTS,
});

/** A token for one request (RFC 7519); Ghost takes none that lives longer than five minutes. */
function signed(secrets: Secrets, now: number): RequestSignature {
  const [, kid = "", secret = ""] = ADMIN_KEY.exec(secrets["adminKey"] ?? "") ?? [];
  const iat = Math.floor(now / SECOND);
  const parts = [
    { alg: "HS256", typ: "JWT", kid },
    { iat, exp: iat + (5 * MINUTE) / SECOND, aud: "/admin/" },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const text = parts.join(".");
  const signature = createHmac("sha256", Buffer.from(secret, "hex")).update(text).digest("base64url");
  return { headers: { authorization: `Ghost ${text}.${signature}` } };
}

/** https://docs.ghost.org/admin-api/#site */
export const Site = z.looseObject({
  site: z.looseObject({
    title: z.string(),
    url: z.url({ protocol: /^https?$/ }),
    icon: z.url().nullish().catch(null),
    logo: z.url().nullish().catch(null),
    version: z.string().max(100).catch(""),
  }),
});

/** A post as far as its way there needs it; of lists and answers alike. */
const Post = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  slug: z.string(),
  updated_at: z.string(),
  url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .catch(null),
  visibility: z.string().nullish().catch(null),
  count: z
    .looseObject({ clicks: z.int().min(0).nullish().catch(null) })
    .nullish()
    .catch(null),
});
export type Post = z.infer<typeof Post>;

export const Posts = z
  .looseObject({ posts: z.array(Post).min(1) })
  .transform(({ posts }) => posts[0] as Post);

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

/** The library that Ghost reads tokens with says so only in words. */
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

/** What Ghost calls the fields of the metadata that it may refuse. */
const REFUSED = {
  title: "title",
  authors: "authors",
  canonical_url: "canonicalUrl",
  custom_excerpt: "description",
  slug: "slug",
  tags: "tags",
};

const FAULTS: FaultTable = {
  title: "Ghost",
  codesOf,
  rules: [
    {
      status: [301, 302, 307, 308],
      kind: "auth",
      message: "The site has moved to another address. Reconnect the channel with the one it has now.",
    },
    ...byCode("setup", {
      clock:
        "The site says that the key has expired: its clock and that of Posthorn's server differ by minutes. Set both clocks.",
    }),
    ...byCode("auth", {
      "UNKNOWN_ADMIN_API_KEY INVALID_JWT INVALID_API_KEY_TYPE MISSING_ADMIN_API_KID":
        "Ghost does not know the key (any more). Make a new one under Settings, Integrations.",
    }),
    ...byCode(
      { kind: "transient", isNotDone: true },
      { UpdateCollisionError: "Another person is editing the post." },
    ),
    ...byCode(
      { status: 503, kind: "transient", isNotDone: true },
      { MaintenanceError: "The site is starting, or being upgraded." },
    ),
    ...byCode("rejected", {
      HostLimitError: "The site's plan does not allow this. Its owner can look at its limits under Settings.",
    }),
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
    ...Object.entries(REFUSED).flatMap(([code, field]) =>
      refusedField(`metadata.${field}`, { [code]: "Ghost refused it. Change it, then send the post again." }),
    ),
    {
      status: 403,
      kind: "rejected",
      message: "The site does not let this integration do that. Its owner can look at it under Settings.",
    },
    { status: 404, kind: "rejected", message: "It is not on the site any more. It was deleted there." },
  ],
};
