import { namesAmong } from "../../channels/accounts/accounts.ts";
import type { Resource } from "@modelcontextprotocol/server";
import { DateTime } from "luxon";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { Post } from "../../domain/posts/post.ts";
import { quote } from "../../domain/text/plain-text.ts";
import {
  ask,
  readAccounts,
  readPlatforms,
  readPosts,
  suggestAccounts,
  suggestPosts,
  suggestProviders,
} from "../look-up.ts";
import { addressOf, jsonContents, type ResourceKind, type Scope, type Suggestion } from "../kinds.ts";
import { MAX_RESULT_CHARS } from "../limits.ts";
import { APP_PAGES } from "./app-pages.ts";
import { SKILL_RESOURCE } from "./skills.ts";

/** A calendar tells which post it is; the whole text is read with the post. */
const MAX_CALENDAR_CAPTION_CHARS = 100;

/** Room for what a calendar says besides its posts. */
const NOTE_CHARS = 500;

/** Months before and after this one that a person is offered. */
const SUGGESTED_MONTHS = 12;

export const POST_RESOURCE: ResourceKind = {
  uri: "posthorn://posts/{id}",
  name: "post",
  title: "A post",
  description: "One post with all its fields, as get_post answers it. Ids come from list_posts.",
  mimeType: "application/json",
  tool: "get_post",
  async read(id, scope) {
    const { post } = await ask(scope, "get_post", { id }, z.object({ post: Post }));
    return jsonContents(addressOf(POST_RESOURCE, id), post);
  },
  async listPage(scope, cursor) {
    const { posts, nextCursor } = await readPosts(scope, cursor === undefined ? {} : { cursor });
    return { resources: posts.map(postEntry), nextCursor };
  },
  complete: (scope) => suggestPosts(scope),
};

const ACCOUNT_RESOURCE: ResourceKind = {
  uri: "posthorn://accounts/{id}",
  name: "account",
  title: "A connected channel",
  description:
    "One channel with its health and capabilities, as list_accounts answers it, which also supplies the ids.",
  mimeType: "application/json",
  tool: "list_accounts",
  async list(scope) {
    const accounts = await readAccounts(scope);
    const names = namesAmong(scope.ctx, accounts);
    return accounts.map(({ id, name, provider }) =>
      toResource(ACCOUNT_RESOURCE, id, {
        title: names.get(id) ?? name,
        description: `Channel on ${provider}.`,
      }),
    );
  },
  async read(id, scope) {
    const account = (await readAccounts(scope)).find((one) => one.id === id);
    if (account === undefined)
      throw new AppError("not_found", `There is no account ${quote(id)}. Take ids from list_accounts.`);
    return jsonContents(addressOf(ACCOUNT_RESOURCE, id), account);
  },
  complete: suggestAccounts,
};

const PLATFORM_RESOURCE: ResourceKind = {
  uri: "posthorn://platforms/{provider}",
  name: "platform",
  title: "A platform's rules",
  description:
    "What a platform takes (media, caption length, what can be edited) and the JSON Schema of a post's metadata on it.",
  mimeType: "application/json",
  tool: "list_platforms",
  async list(scope) {
    const platforms = await readPlatforms(scope);
    return platforms.map(({ provider, title }) =>
      toResource(PLATFORM_RESOURCE, provider, { title, description: `The rules of ${title}.` }),
    );
  },
  async read(provider, scope) {
    const [platform] = await readPlatforms(scope, [provider]).catch(toNotFound);
    return jsonContents(addressOf(PLATFORM_RESOURCE, provider), platform);
  },
  complete: suggestProviders,
};

/** What is no value of an argument is no resource. */
function toNotFound(error: unknown): never {
  throw error instanceof AppError && error.kind === "invalid" ? new AppError("not_found", error.said) : error;
}

const Calendar = z.object({ posts: z.array(Post), timezone: z.string() });

const CALENDAR_RESOURCE: ResourceKind = {
  // Names of variables have no hyphen (RFC 6570), so it is not {yyyy-mm}.
  uri: "posthorn://calendar/{month}",
  name: "calendar",
  title: "A month of posts",
  description:
    "The posts of one month, earliest first, in short. The month is yyyy-mm, for example posthorn://calendar/2026-11.",
  mimeType: "application/json",
  tool: "show_calendar",
  async list(scope) {
    const now = thisMonth(scope);
    return [now, now.plus({ months: 1 })].map((month) =>
      toResource(CALENDAR_RESOURCE, month.toFormat("yyyy-MM"), {
        title: month.toFormat("LLLL yyyy"),
        description: "The posts of this month.",
      }),
    );
  },
  async read(month, scope) {
    const first = DateTime.fromFormat(month, "yyyy-MM", { zone: "UTC" });
    if (!first.isValid)
      throw new AppError(
        "not_found",
        `${quote(month)} is not a month. Give it as yyyy-mm, for example 2026-11.`,
      );
    const bounds = { from: first.toISODate(), to: first.endOf("month").toISODate() };
    const { posts, timezone } = await ask(scope, "show_calendar", bounds, Calendar);
    const told = { month, timezone, ...fitMonth(posts.map(inShort)) };
    return jsonContents(addressOf(CALENDAR_RESOURCE, month), told);
  },
  async complete(scope) {
    const now = thisMonth(scope);
    const offsets = Array.from({ length: 2 * SUGGESTED_MONTHS + 1 }, (_, index) => index - SUGGESTED_MONTHS);
    const nearestFirst = offsets.sort((a, b) => Math.abs(a) - Math.abs(b) || b - a);
    return nearestFirst.map((months): Suggestion => ({ value: now.plus({ months }).toFormat("yyyy-MM") }));
  },
};

export const RESOURCES: readonly ResourceKind[] = [
  SKILL_RESOURCE,
  ...APP_PAGES,
  CALENDAR_RESOURCE,
  ACCOUNT_RESOURCE,
  PLATFORM_RESOURCE,
  POST_RESOURCE,
];

function toResource(
  kind: ResourceKind,
  value: string,
  told: Pick<Resource, "title" | "description">,
): Resource {
  return { uri: addressOf(kind, value), name: value, ...told, mimeType: kind.mimeType };
}

function postEntry({ id, caption, status, scheduledAt, provider, updatedAt }: Post): Resource {
  const title = caption === null || caption === "" ? "A post without text" : cut(caption);
  const description = `${status}, ${scheduledAt}, on ${provider}.`;
  const annotations = { lastModified: updatedAt };
  return { ...toResource(POST_RESOURCE, id, { title, description }), annotations };
}

function inShort({ id, accountId, scheduledAt, status, caption, metadata, error }: Post) {
  const title = metadata?.["title"];
  const told = { id, accountId, scheduledAt, status, ...(typeof title === "string" && { title }) };
  return { ...told, caption: caption === null ? null : cut(caption), ...(error !== null && { error }) };
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_CALENDAR_CAPTION_CHARS
    ? text
    : `${characters.slice(0, MAX_CALENDAR_CAPTION_CHARS).join("")}…`;
}

function fitMonth(posts: readonly object[]): { posts: readonly object[]; note?: string } {
  let size = NOTE_CHARS;
  const fitting = posts.filter((post) => (size += JSON.stringify(post).length + 1) < MAX_RESULT_CHARS);
  if (fitting.length === posts.length) return { posts };
  const note = `The first ${fitting.length} of ${posts.length} posts. Read the others with list_posts, by from and to.`;
  return { posts: fitting, note };
}

/** In UTC: the address says which month is meant, the list only has to offer a near one. */
function thisMonth({ ctx }: Scope): DateTime {
  return DateTime.fromMillis(ctx.clock.now(), { zone: "UTC" }).startOf("month");
}
