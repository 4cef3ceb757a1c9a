import type { Post } from "../../../../src/domain/posts/post.ts";
import { FIELD_NAMES } from "../../../shared/changed-fields.ts";
import { type Json, jsonOf, textOf } from "../../../shared/json.ts";
import type { Zone } from "../../../shared/zone.ts";
import type { Form } from "./form.ts";
import { formOfPost } from "./read-form.ts";
import { postChangeOf } from "./send-form.ts";

/*
 * What of a post's content a person changed, field by field, so that a save takes nothing back that others changed
 * meanwhile. Fields of the metadata stand beside the others, as `metadata.title`.
 */

/** Null: there is nothing in it. */
export type Fields = Readonly<Record<string, unknown>>;

const OF_METADATA = "metadata.";
/** Text of the picture before: it does not stay with another one. */
const ALT_TEXT = "metadata.altText";

/** The arguments of a change as fields. */
export function fieldsOf({ id: _id, metadata, ...others }: Json): Fields {
  const own = Object.entries(jsonOf(metadata)).map(([key, value]) => [OF_METADATA + key, value] as const);
  return { ...others, ...Object.fromEntries(own) };
}

/** What the form would send. */
export function fieldsOfForm(form: Form, zone: Zone): Fields {
  return fieldsOf(postChangeOf(form, zone));
}

/** As a form of it would be sent, so that both compare. */
export function fieldsOfPost(post: Post, now: number, zone: Zone): Fields {
  return fieldsOfForm(formOfPost(post, now, zone), zone);
}

/** The fields that differ, as they are after. A time that is not whole yet is no change. */
export function differencesOf(before: Fields, after: Fields): Fields {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isOther = (key: string): boolean =>
    !(key === "scheduledAt" && after[key] === undefined) && !isSame(before[key], after[key]);
  const changed = keys.filter(isOther);
  const all = changed.includes("mediaUrl") ? [...new Set([...changed, ALT_TEXT])] : changed;
  return Object.fromEntries(all.map((key) => [key, after[key] ?? null]));
}

/** The fields that both changed, and not alike. */
export function clashesOf(mine: Fields, theirs: Fields): readonly string[] {
  return Object.keys(mine).filter((key) => key in theirs && !isSame(mine[key], theirs[key]));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

/** The arguments of a call that changes these fields of the post, and no others. */
export function argsOf(change: Fields, { metadata }: Pick<Post, "metadata">): Json {
  const entries = Object.entries(change);
  const isOwn = ([key]: readonly [string, unknown]): boolean => key.startsWith(OF_METADATA);
  const own = entries
    .filter(isOwn)
    .map(([key, value]) => [key.slice(OF_METADATA.length), value] as const)
    // What is not there need not be taken away, and some platforms do not know it.
    .filter(([key, value]) => value !== null || Object.hasOwn(metadata ?? {}, key));
  return {
    ...Object.fromEntries(entries.filter((entry) => !isOwn(entry))),
    ...(own.length > 0 && { metadata: Object.fromEntries(own) }),
  };
}

/** The post with these fields as they were changed. */
export function withFields(post: Post, change: Fields): Post {
  const { metadata: own, ...others } = argsOf(change, post);
  const metadata = Object.entries({ ...post.metadata, ...jsonOf(own) }).filter(([, value]) => value !== null);
  return {
    ...post,
    ...("caption" in others && { caption: textOf(others["caption"]) }),
    ...("mediaUrl" in others && { mediaUrl: textOf(others["mediaUrl"]) }),
    metadata: Object.fromEntries(metadata) as Post["metadata"],
    scheduledAt: textOf(others["scheduledAt"]) || post.scheduledAt,
  };
}

/** What was changed here beside what is `asked` about. Pictures go together, each with its text. */
export function besides(mine: Fields, asked: readonly string[]): Fields {
  const names = asked.map((key) => FIELD_NAMES[key]);
  const isAsked = (key: string): boolean =>
    asked.includes(key) ||
    names.includes(FIELD_NAMES[key] ?? key) ||
    (key === ALT_TEXT && "mediaUrl" in mine && names.includes(FIELD_NAMES["mediaUrl"]));
  return Object.fromEntries(Object.entries(mine).filter(([key]) => !isAsked(key)));
}
