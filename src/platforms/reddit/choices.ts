import * as z from "zod";
import type { Choice } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { ask, listOf } from "./api.ts";

const Community = z.looseObject({
  display_name: z.string(),
  subscribers: z.int().nullish().catch(null),
  submission_type: z.string().nullish().catch(null),
  allow_images: z.boolean().nullish().catch(null),
  allow_videos: z.boolean().nullish().catch(null),
  user_is_banned: z.boolean().nullish().catch(null),
  subreddit_type: z.string().nullish().catch(null),
  over18: z.boolean().nullish().catch(null),
});
type Community = z.infer<typeof Community>;

const TAKES: Readonly<Record<string, string>> = { link: "no texts", self: "texts alone" };

/** Communities by a part of their names, each with what it takes; without one, the own profile. */
export async function communities(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const name = search.replace(/^\/?r\//, "");
  const { handle } = io.account;
  if (name === "")
    return handle === null ? [] : [{ value: `u_${handle}`, label: "The account's own profile" }];
  const query = { q: name, limit: 50 };
  const { data } = await ask(io, { path: "/subreddits/search", query }, listOf(Community));
  const found = data.children.map((child) => child.data);
  const exact = found.find(({ display_name: one }) => one.toLowerCase() === name.toLowerCase());
  const sorted = exact === undefined ? found : [exact, ...found.filter((one) => one !== exact)];
  const rules = exact === undefined ? [] : await rulesOf(exact.display_name, io);
  return sorted.map((one) => ({
    value: one.display_name,
    label: labelOf(one, one === exact ? rules : []),
  }));
}

function labelOf(community: Community, rules: readonly string[]): string {
  const { display_name: name, subscribers, submission_type: type, subreddit_type: access } = community;
  const notes = [
    ...(typeof subscribers === "number" ? [`${subscribers} members`] : []),
    ...(access === "public" || access === null || access === undefined ? [] : [access]),
    ...(community.user_is_banned === true ? ["this account is banned"] : []),
    ...(community.over18 === true ? ["NSFW"] : []),
    ...(TAKES[type ?? ""] === undefined ? [] : [TAKES[type ?? ""]]),
    ...(community.allow_images === false ? ["no pictures"] : []),
    ...(community.allow_videos === false ? ["no films"] : []),
    ...rules,
  ];
  return notes.length === 0 ? `r/${name}` : `r/${name} (${notes.join(", ")})`;
}

const Limit = z.int().nullish().catch(null);
const Requirements = z.looseObject({
  is_flair_required: z.boolean().catch(false),
  title_text_min_length: Limit,
  title_text_max_length: Limit,
  body_text_min_length: Limit,
  body_text_max_length: Limit,
  body_restriction_policy: z.string().nullish().catch(null),
  link_restriction_policy: z.string().nullish().catch(null),
  title_required_strings: z.array(z.string()).catch([]),
});

/** What its moderators ask of posts, as far as programs can know it. */
async function rulesOf(name: string, io: PlatformIo): Promise<string[]> {
  const path = `/api/v1/${encodeURIComponent(name)}/post_requirements`;
  const rules = await orNothing(ask(io, { path }, Requirements));
  if (rules === null) return [];
  const { body_restriction_policy: body, link_restriction_policy: links } = rules;
  const words = rules.title_required_strings.slice(0, 5).map((word) => JSON.stringify(word.slice(0, 30)));
  return [
    ...(rules.is_flair_required ? ["a flair is required"] : []),
    ...spanOf("title", rules.title_text_min_length, rules.title_text_max_length),
    ...spanOf("text", rules.body_text_min_length, rules.body_text_max_length),
    ...(body === "required" ? ["a text is required"] : body === "notAllowed" ? ["no text"] : []),
    ...(links === "whitelist" ? ["links to some places alone"] : []),
    ...(words.length === 0 ? [] : [`one of ${words.join(" ")} in the title`]),
  ];
}

function spanOf(what: string, min: number | null | undefined, max: number | null | undefined): string[] {
  const most = typeof max === "number" ? ` at most ${max}` : "";
  const least = typeof min === "number" ? ` at least ${min}` : "";
  return least + most === "" ? [] : [`${what} of${least}${most} characters`];
}

const Flairs = z.array(
  z.looseObject({ id: z.string(), text: z.string().catch(""), text_editable: z.boolean().catch(false) }),
);

/** Flairs of a community: `search` is its name, and after a space a part of the flair's. */
export async function flairs(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const [community = "", ...words] = search.replace(/^\/?r\//, "").split(/\s+/);
  if (community === "") return [];
  const path = `/r/${encodeURIComponent(community)}/api/link_flair_v2`;
  const found = (await orNothing(ask(io, { path }, Flairs))) ?? [];
  const part = words.join(" ").toLowerCase();
  return found
    .filter(({ text }) => text.toLowerCase().includes(part))
    .map(({ id, text, text_editable: isFree }) => ({
      value: id,
      label: `${text === "" ? "(empty)" : text}${isFree ? " (flairText may be given)" : ""}`,
    }));
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
