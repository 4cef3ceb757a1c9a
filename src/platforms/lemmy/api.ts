import * as z from "zod";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, type Code, type FaultRule, refusedField, TOO_LARGE_FILE } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";
import { askOrNull, serverOf } from "../shared/servers.ts";

export const TITLE = "Lemmy";

/** Lemmy 0.19 speaks the third version; 1.0 speaks the fourth, and only a part of the third. */
export const Version = z.enum(["v3", "v4"]);
export type Version = z.infer<typeof Version>;

/** What is called otherwise in the two. */
const NAMES = {
  v3: {
    login: "user/login",
    me: "site",
    image: "/pictrs/image",
    new: "New",
    all: "All",
    subscribed: "Subscribed",
  },
  v4: {
    login: "account/auth/login",
    me: "account",
    image: "/api/v4/image",
    new: "new",
    all: "all",
    subscribed: "subscribed",
  },
} as const;

export function namesOf(version: Version): (typeof NAMES)[Version] {
  return NAMES[version];
}

/** As `inspect` found it last; before that, as it was when the channel was connected. */
export function versionOf({ account }: Pick<PlatformIo, "account">): Version {
  const told = Version.safeParse(account.limits["api"] ?? account.settings["api"]);
  return told.success ? told.data : "v3";
}

const api = restApi({
  base: serverOf,
  freshConnections: true,
  // The third version says with status 400 that a post is gone.
  gone: [{ code: ["couldnt_find_post", "not_found"] }],
  faults: () => ({ title: TITLE, codesOf, rules: RULES }),
});

/** `path`: below /api/v3/ or /api/v4/; with a slash before it, below the server's address. */
function onVersion(version: Version, call: ApiCall): ApiCall {
  return call.path.startsWith("/") ? call : { ...call, path: `/api/${version}/${call.path}` };
}

/** One call with the account's token. */
export function own<T>(io: PlatformIo, call: ApiCall, schema: z.ZodType<T>): Promise<T> {
  return api.ask(io, onVersion(versionOf(io), call), schema);
}

/** One call without a token. */
export function asGuest<T>(io: PlatformIo, call: ApiCall, schema: z.ZodType<T>): Promise<T> {
  return api.askWith(io, { server: serverOf(io) }, onVersion(versionOf(io), call), schema);
}

/** The same about a post; null where it is not there (any more). */
export function ownOrGone<T>(io: PlatformIo, call: ApiCall, schema: z.ZodType<T>): Promise<T | null> {
  return api.askOrGone(io, onVersion(versionOf(io), call), schema);
}

interface ServerAccess {
  readonly server: string;
  readonly version: Version;
  readonly secrets?: Secrets;
}

/** One call while connecting. */
export function callWith<T>(
  io: ConnectIo,
  { version, ...as }: ServerAccess,
  call: ApiCall,
  schema: z.ZodType<T>,
): Promise<T> {
  return api.askWith(io, as, onVersion(version, call), schema);
}

const Site = z.looseObject({
  version: z.string().max(200),
  site_view: z.looseObject({
    local_site: z.looseObject({
      image_upload_disabled: z.boolean().catch(false),
      private_instance: z.boolean().catch(true),
    }),
  }),
});

interface Server {
  readonly version: Version;
  readonly takesImages: boolean;
  /** Guests see nothing. */
  readonly isPrivate: boolean;
}

/** What a server is. Throws `rejected` for none of Lemmy's. */
export async function askServer(io: Pick<ConnectIo, "ask">, server: string): Promise<Server> {
  for (const version of ["v4", "v3"] as const) {
    const site = await askOrNull(io, `${server}/api/${version}/site`, Site);
    if (site === null) continue;
    const { image_upload_disabled: isWithout, private_instance: isPrivate } = site.site_view.local_site;
    return { version, takesImages: !isWithout, isPrivate };
  }
  throw new PlatformFault("rejected", "This is not a Lemmy server.");
}

const Id = z.int().positive();
const Count = z.int().optional().catch(undefined);
const Address = z.url({ protocol: /^https?$/ }).max(2_000);

const Person = z.looseObject({
  id: Id,
  name: z.string(),
  display_name: z.string().nullish().catch(null),
  avatar: Address.nullish().catch(null),
  actor_id: Address.optional().catch(undefined),
  ap_id: Address.optional().catch(undefined),
  banned: z.boolean().catch(false),
});
export type Person = z.infer<typeof Person>;

const Mine = z.looseObject({ local_user_view: z.looseObject({ person: Person }) });

/** Whose token it is: `account` in the fourth version, a part of `site` in the third, null for a guest. */
export const Me = z
  .union([Mine, z.looseObject({ my_user: Mine.nullish() }).transform(({ my_user: mine }) => mine ?? null)])
  .transform((mine) => mine?.local_user_view.person ?? null);

export const Community = z.looseObject({
  id: Id,
  name: z.string(),
  title: z.string().nullish().catch(null),
  actor_id: Address.optional().catch(undefined),
  ap_id: Address.optional().catch(undefined),
  visibility: z.string().optional().catch(undefined),
  hidden: z.boolean().catch(false),
  local: z.boolean().catch(false),
});
export type Community = z.infer<typeof Community>;

const Post = z.looseObject({
  id: Id,
  name: z.string(),
  creator_id: z.int(),
  published: z.string().optional().catch(undefined),
  published_at: z.string().optional().catch(undefined),
  deleted: z.boolean().catch(false),
  removed: z.boolean().catch(false),
  featured_community: z.boolean().catch(false),
  upvotes: Count,
  comments: Count,
});

/** The third version counts beside the post. */
export const PostView = z.looseObject({
  post: Post,
  counts: z.looseObject({ upvotes: Count, comments: Count }).optional().catch(undefined),
});
export type PostView = z.infer<typeof PostView>;

export const Posted = z.looseObject({ post_view: PostView });

/** A page of a listing: the third version calls what it lists by its name. */
export function pageOf<T>(view: z.ZodType<T>, name: string): z.ZodType<Page<T>> {
  return z
    .looseObject({})
    .transform((page) => ({ items: page["items"] ?? page[name], next: page["next_page"] }))
    .pipe(z.object({ items: z.array(view), next: z.string().nullable().catch(null) }));
}

export interface Page<T> {
  readonly items: T[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
}

const Body = z.looseObject({ error: z.string() });

/** The status says little: nearly everything is 400. */
function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = Body.safeParse(json);
  return status >= 400 && status < 500 && body.success ? [body.data.error] : [];
}

const RULES: readonly FaultRule[] = [
  ...byCode("auth", {
    "not_logged_in incorrect_login missing_totp_token incorrect_totp_token token_not_found":
      "The server does not take the channel's login any more. Reconnect the channel.",
  }),
  {
    code: [
      "site_ban",
      "banned",
      "person_is_banned_from_site",
      "deleted",
      "registration_application_is_pending",
      "registration_denied",
      "email_not_verified",
    ],
    kind: "auth",
    message:
      "The server has closed this account, or has not let it in yet. Settle that with the server first.",
  },
  // An error of its own in the third version, with status 400.
  ...byCode("rate", { "rate_limit_error too_many_requests": "The server asks to slow down." }),
  ...refusedField("metadata.community", {
    "couldnt_find_community invalid_community": "the server knows no such community. Check its name.",
    "person_is_banned_from_community banned_from_community":
      "its moderators have banned this account. Name another one.",
    "community_is_blocked instance_is_blocked":
      "this account has blocked it, or its server. Unblock it there, then send the post again.",
    "only_mods_can_post_in_community not_a_moderator not_a_mod_or_admin":
      "only its moderators may post there. Name another one.",
    cannot_create_post_or_comment_in_deleted_or_removed_community: "it was deleted. Name another one.",
  }),
  ...refusedField("metadata.title", {
    "invalid_post_title post_title_too_long":
      "must be one line of 3 to 200 characters. Change it, then send the post again.",
  }),
  ...refusedField("caption", {
    invalid_body_field: "is longer than this server takes. Shorten it, then send the post again.",
  }),
  ...refusedField("metadata.link", {
    "blocked_url invalid_url invalid_url_scheme url_length_overflow":
      "the server does not take this address. Change it, then send the post again.",
  }),
  ...refusedField("metadata.altText", {
    alt_text_length_overflow: "is longer than 1500 characters. Shorten it, then send the post again.",
  }),
  ...refusedField("metadata.sensitive", {
    nsfw_not_allowed: "this server takes no posts marked as not safe for work.",
  }),
  ...refusedField("mediaUrl", {
    "image_upload_disabled not_an_image_type pictrs_invalid_image_upload pictrs_response_error":
      "the server does not take this picture, or takes no pictures. Give another one, or a link.",
  }),
  TOO_LARGE_FILE,
  ...byCode("rejected", {
    slurs:
      "The title or the text has words that this server does not allow. Change them, then send the post again.",
    language_not_allowed:
      "The community does not take posts in the language that the account's settings on that server name.",
    "couldnt_find_post not_found couldnt_find_object":
      "The server does not have, or no longer has, what was asked for.",
  }),
];

const CODE_NOW = "Enter the six digits that your app shows now.";

/** For the login itself, which is about what the person entered. */
export const LOGIN_RULES: readonly FaultRule[] = [
  ...refusedField("totp", {
    missing_totp_token: `the account asks for a code. ${CODE_NOW}`,
    "incorrect_totp_token couldnt_parse_totp_secret": `the code is wrong or has expired. ${CODE_NOW}`,
  }),
  ...refusedField("password", {
    "incorrect_login couldnt_find_person couldnt_find_local_user not_found":
      "the name or the password is wrong. Enter those that you sign in to the server with.",
  }),
];
