import { createHmac } from "node:crypto";
import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import {
  PlatformFault,
  type Json,
  type PlatformIo,
  type PlatformRequest,
  type Signed,
} from "../../ports/platform-io.ts";
import { classify } from "./faults.ts";

/** Below the site's address. */
const API = "/ghost/api/admin";

export const ADMIN_KEY = /^([0-9a-f]{24}):((?:[0-9a-f]{2}){16,128})$/i;

export interface Call extends Pick<
  PlatformRequest,
  "query" | "multipart" | "isIdempotent" | "timeoutMs" | "idleMs"
> {
  /** Default: GET. */
  readonly method?: PlatformRequest["method"];
  /** With its slash at the end: Ghost redirects what has none. */
  readonly path: string;
  readonly json?: Json;
}

/** One call with the channel's key. */
export function call<T>(io: PlatformIo, one: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(siteOf(io), one), sign: (secrets) => signed(secrets, io.now()) }, schema);
}

/** The same; null where what it is about is not there (any more). */
export async function callOrGone<T>(io: PlatformIo, one: Call, schema: z.ZodType<T>): Promise<T | null> {
  try {
    return await call(io, one, schema);
  } catch (error) {
    if (error instanceof PlatformFault && error.httpStatus === 404) return null;
    throw error;
  }
}

/** While connecting: `adminKey` "" asks without one. */
export function callWith<T>(
  io: ConnectIo,
  at: { readonly site: string; readonly adminKey: string },
  one: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  const { headers, ...request } = requestOf(at.site, one);
  const authorization = at.adminKey === "" ? {} : signed(at, io.now()).headers;
  return io.ask({ ...request, headers: { ...headers, ...authorization } }, schema);
}

function requestOf(site: string, { path, ...one }: Call): PlatformRequest {
  return {
    method: "GET",
    ...one,
    url: `${site}${API}${path}`,
    // What Ghost 5 and 6 both know.
    headers: { accept: "application/json", "accept-version": "v5.0" },
    classify,
  };
}

/** The address of the account's site, without a slash at its end. */
export function siteOf(io: Pick<PlatformIo, "account" | "setting">): string {
  const { instanceUrl } = io.account.settings;
  const site = typeof instanceUrl === "string" ? instanceUrl : io.setting("BASE_URL");
  if (site !== null) return site;
  throw new PlatformFault("auth", "The address of the channel's site is not known. Reconnect the channel.");
}

/** A token for this request alone (RFC 7519); Ghost takes none that lives longer than five minutes. */
function signed(secrets: Secrets, now: number): Signed {
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
