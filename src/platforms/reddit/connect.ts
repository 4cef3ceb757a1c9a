import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { OAuthWay, SetupGuide } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Choice } from "../../ports/platform.ts";
import { ask, askWith, listOf, REDDIT, userAgent } from "./api.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

export const ME = "/api/v1/me";

const Count = z.int().optional().catch(undefined);

export const Me = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  icon_img: z.url().nullish().catch(null),
  is_suspended: z.boolean().catch(false),
  total_karma: Count,
  subreddit: z.looseObject({ subscribers: Count }).nullish().catch(null),
});

const SCOPES = ["identity", "read", "submit", "edit", "flair", "history"];

const SETUP: SetupGuide = {
  url: "https://www.reddit.com/prefs/apps",
  needs: [
    "Reddit's approval of the app: its API has been closed to new apps since November 2025. Many requests are refused or not answered, and some older apps were revoked too.",
  ],
  steps: [
    "Reddit's API has been closed to new apps since November 2025. Ask Reddit to approve yours first (https://support.reddithelp.com/hc/en-us/articles/42728983564564). Older apps go on working.",
    "At https://www.reddit.com/prefs/apps, create an app of the type web app, with {redirectUrl} as its redirect uri.",
    "Copy the id under its name into POSTHORN_REDDIT_CLIENT_ID and the secret into POSTHORN_REDDIT_CLIENT_SECRET. The app asks for: {scopes}.",
    "Set POSTHORN_REDDIT_USER_AGENT to node:<your domain>:1 (by /u/<your name>), as Reddit asks for.",
  ],
  warnings: [
    "Reddit takes 100 requests a minute from an app. How often an account may post depends on its age and karma, and bots of communities remove posts without notice.",
  ],
};

export const consent: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Sign in with Reddit",
  instructions: "Sign in to Reddit and allow the app to post.",
  setup: SETUP,
  endpoints: {
    authorize: `${REDDIT}/api/v1/authorize`,
    token: `${REDDIT}/api/v1/access_token`,
  },
  scopes: SCOPES,
  neededScopes: ["identity", "read", "submit", "history"],
  clientAuth: "basic",
  // Else there is no refresh token, and access ends within a day.
  authorizeParams: { duration: "permanent" },
  tokenHeaders: (io) => ({ "user-agent": userAgent(io) }),
  renewal: { beforeMs: 0, everyMs: 30 * DAY, isSingleUse: false },
  async targets({ secrets }, io) {
    const me = await askWith(io, { secrets }, { path: ME }, Me);
    return [
      {
        platformAccountId: `t2_${me.id}`,
        name: me.name,
        handle: me.name,
        profileUrl: `${REDDIT}/user/${encodeURIComponent(me.name)}`,
        avatarUrl: me.icon_img ?? null,
        settings: {},
        secrets: {},
        ...(me.is_suspended ? { problem: SUSPENDED } : {}),
      },
    ];
  },
};

export const SUSPENDED = "Reddit has suspended this account, so it cannot post.";

const Flag = z.boolean().nullish().catch(null);
const Community = z.looseObject({
  display_name: z.string(),
  subscribers: z.int().catch(0),
  submission_type: z.string().nullish().catch(null),
  allow_images: Flag,
  allow_videos: Flag,
  user_is_banned: Flag,
  over18: Flag,
});
type Community = z.infer<typeof Community>;

/** Communities by a part of their names, each with what it takes; without one, the own profile. */
export async function communities(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const name = withoutSlash(search).toLowerCase();
  if (name === "") return [{ value: `u_${io.account.handle}`, label: "The account's own profile" }];
  const query = { q: name, limit: 50 };
  const { data } = await ask(io, { path: "/subreddits/search", query }, listOf(Community));
  const found = data.children.map((child) => child.data);
  const exact = found.find(({ display_name: one }) => one.toLowerCase() === name);
  const sorted = exact === undefined ? found : [exact, ...found.filter((one) => one !== exact)];
  const rules = exact === undefined ? [] : await rulesOf(exact.display_name, io);
  return sorted.map((one) => ({
    value: one.display_name,
    label: labelOf(one, one === exact ? rules : []),
  }));
}

function labelOf({ display_name: name, ...of }: Community, rules: readonly string[]): string {
  const notes = [
    `${of.subscribers} members`,
    of.user_is_banned === true && "this account is banned",
    of.over18 === true && "NSFW",
    of.submission_type === "link" && "no texts",
    of.submission_type === "self" && "only texts",
    of.allow_images === false && "no pictures",
    of.allow_videos === false && "no videos",
    ...rules,
  ];
  return `r/${name} (${notes.filter((note) => note !== false).join(", ")})`;
}

const Requirements = z.looseObject({
  is_flair_required: z.boolean().catch(false),
  title_text_max_length: z.int().nullish().catch(null),
  body_restriction_policy: z.string().nullish().catch(null),
  title_required_strings: z.array(z.string().max(30)).max(9).catch([]),
});

/** What its moderators ask of posts, as far as Reddit tells programs. */
async function rulesOf(name: string, io: PlatformIo): Promise<string[]> {
  const path = `/api/v1/${encodeURIComponent(name)}/post_requirements`;
  const rules = await orNothing(ask(io, { path }, Requirements));
  if (rules === null) return [];
  const { title_text_max_length: max, body_restriction_policy: body, title_required_strings: words } = rules;
  return [
    ...(rules.is_flair_required ? ["a flair is required"] : []),
    ...(typeof max === "number" ? [`titles of at most ${max} characters`] : []),
    ...(body === "required" ? ["text is required"] : body === "notAllowed" ? ["no text"] : []),
    ...(words.length === 0 ? [] : [`one of ${JSON.stringify(words)} in the title`]),
  ];
}

const Flairs = z.array(
  z.looseObject({ id: z.string(), text: z.string().catch(""), text_editable: z.boolean().catch(false) }),
);

/** Flairs of a community: `search` is its name, and after a space a part of the flair's. */
export async function flairs(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const [community = "", ...words] = withoutSlash(search).split(/\s+/);
  if (community === "") return [];
  const path = `/r/${encodeURIComponent(community)}/api/link_flair_v2`;
  const found = (await orNothing(ask(io, { path }, Flairs))) ?? [];
  const part = words.join(" ").toLowerCase();
  return found
    .filter(({ text }) => text.toLowerCase().includes(part))
    .map(({ id, text, text_editable: isFree }) => ({
      value: id,
      label: isFree ? `${text} (flairText may be given)` : text,
    }));
}

function withoutSlash(search: string): string {
  return search.replace(/^\/?r\//, "");
}

/** Null where the community has none, or does not tell (403, 404). */
async function orNothing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}
