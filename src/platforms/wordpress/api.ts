import * as z from "zod";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { WebAddress } from "../../ports/platform-values.ts";
import { basic, byCode, type FaultTable, refusedField, TOO_LARGE_FILE } from "../shared/faults.ts";
import { serverOf } from "../shared/servers.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

export const TITLE = "WordPress";

export const { ask, askOrGone, askWith, send } = restApi({
  base: rootOf,
  sign: basic("username", "appPassword"),
  // A site without an API answers 404 too, and is not this.
  gone: [{ status: [404, 410] }],
  faults: () => FAULTS,
});

/** Where the account's site has its API; without pretty permalinks it is `…/?rest_route=`. */
function rootOf(io: Pick<PlatformIo, "account" | "setting">): string {
  const { apiRoot } = io.account.settings;
  return typeof apiRoot === "string" ? apiRoot : `${serverOf(io)}/wp-json`;
}

/** How many there are of what a listing would show; null where a proxy drops the header. */
export async function count(
  io: PlatformIo,
  path: string,
  query: ApiCall["query"] = {},
): Promise<number | null> {
  const { headers } = await send(io, { path, query: { ...query, per_page: 1, _fields: "id" } });
  return z.coerce
    .number()
    .int()
    .nullable()
    .catch(null)
    .parse(headers["x-wp-total"] ?? null);
}

/** Times are GMT without saying so; NaN for none. */
const Gmt = z
  .string()
  .nullable()
  .transform((text) => Date.parse(`${text}Z`));

export const WpPost = z.looseObject({
  id: z.int().positive(),
  slug: z.string(),
  status: z.string(),
  link: WebAddress,
  date_gmt: Gmt,
  /** When it was changed last, by the site's clock, in whole seconds. */
  modified_gmt: Gmt.refine((ms) => !Number.isNaN(ms), "is no time"),
  title: z.looseObject({ raw: z.string() }).optional().catch(undefined),
});
export type WpPost = z.infer<typeof WpPost>;

/** What is read of a post: the whole of it may be longer than what is taken. */
export const FIELDS = { _fields: Object.keys(WpPost.shape).join(",") } as const;

export const WpFile = z.looseObject({ id: z.int().positive(), slug: z.string(), source_url: WebAddress });
export type WpFile = z.infer<typeof WpFile>;
export const FILE_FIELDS = { _fields: Object.keys(WpFile.shape).join(",") } as const;

/** As WordPress writes times. In milliseconds, rounded up, so that nothing comes too early. */
export function gmtOf(ms: number): string {
  return new Date(Math.ceil(ms / 1_000) * 1_000).toISOString().slice(0, 19);
}

export function pathOf(id: number | string): string {
  return `/wp/v2/posts/${encodeURIComponent(id)}`;
}

/** Changes what it is told of a post; the same again changes nothing more. */
export function update(
  io: PlatformIo,
  id: number | string,
  json: NonNullable<ApiCall["json"]>,
): Promise<WpPost> {
  return ask(io, { method: "POST", path: pathOf(id), query: FIELDS, json, isIdempotent: true }, WpPost);
}

/** Null where it is gone for good. */
export function findPost(io: PlatformIo, id: number | string): Promise<WpPost | null> {
  return askOrGone(io, { path: pathOf(id), query: { ...FIELDS, context: "edit" } }, WpPost);
}

const Words = z.looseObject({ code: z.string().max(100) });

const TOO_LARGE =
  "is larger than the site takes (Media, Add New on the site shows how much). Give a smaller file or raise the limit there, then send the post again.";

/** https://developer.wordpress.org/rest-api/ names errors by `code`; hosts and firewalls in front of it do not. */
const FAULTS: FaultTable = {
  title: "WordPress",
  codesOf: ({ status, json }) => {
    const words = Words.safeParse(json);
    return status >= 400 && words.success ? [words.data.code] : [];
  },
  rules: [
    {
      status: 401,
      kind: "auth",
      message:
        "The site does not accept the application password. It was revoked, or the web server or a security plugin keeps the Authorization header from WordPress.",
    },
    ...byCode("auth", {
      "rest_cannot_create rest_cannot_edit rest_cannot_publish rest_forbidden_context":
        "The user may not publish on this site. It needs the role of an author or editor.",
    }),
    // Told with the number of the term that is there.
    { code: "term_exists", kind: "ok" },
    ...byCode("rejected", {
      "rest_post_invalid_id rest_already_trashed": "The post is not on the site any more.",
    }),
    {
      // The site's own page, too: nothing of WordPress's API says that a post is gone.
      status: 404,
      kind: "auth",
      message:
        "The site's REST API is switched off, or has moved. Switch it on, or reconnect the channel with the new address.",
    },
    ...refusedField("mediaUrl", { "rest_upload_no_data rest_upload_file_too_big": TOO_LARGE }),
    { ...TOO_LARGE_FILE, message: TOO_LARGE },
    // The reason is told only in words of the site's language, and with a 500.
    ...refusedField("mediaUrl", {
      "rest_upload_unknown_error rest_upload_sideload_error rest_upload_limited_space rest_upload_user_quota_exceeded":
        "the site refused the file: it takes none of this type or size (Media, Add New on the site shows which), or has no space left. Give another one, then send the post again.",
    }),
    {
      status: 403,
      kind: "rejected",
      message:
        "The site does not let this user do that, or a firewall in front of it refused. Ask its administrator.",
    },
  ],
};
