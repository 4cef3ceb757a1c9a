import * as z from "zod";
import { isFields, unwrapped } from "../left-out.ts";
import { nearestName } from "../settings/nearest-name.ts";
import { commonMetadata } from "../posts/common-metadata.ts";

const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
const BOOLEAN = /^(?:true|false)$/i;
const MAYBE_JSON = /^\s*[[{]/;

/**
 * Arguments in the form that their schema has, where they came in another one that means the same for certain:
 * one value for a list of one, digits for a number, `"true"` for true, JSON text for a list or an object.
 * Models, and command lines, write them so. A text stays as it is wherever a text is taken.
 */
export function inUsualForm(schema: z.ZodType, given: unknown): unknown {
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodNumber)
    return typeof given === "string" && NUMBER.test(given.trim()) ? Number(given) : given;
  if (plain instanceof z.ZodBoolean)
    return typeof given === "string" && BOOLEAN.test(given.trim())
      ? given.trim().toLowerCase() === "true"
      : given;
  if (plain instanceof z.ZodArray) return listInUsualForm(plain.element as z.ZodType, given);
  if (plain instanceof z.ZodRecord) return fromJson(given) ?? given;
  if (!(plain instanceof z.ZodObject)) return given;
  const fields = fromJson(given) ?? given;
  if (!isFields(fields)) return given;
  const meant = Object.entries(fields).map(([name, value]) => {
    const field = Object.hasOwn(plain.shape, name) ? (plain.shape[name] as z.ZodType) : undefined;
    return [name, field === undefined ? value : inUsualForm(field, value)];
  });
  return Object.fromEntries(meant);
}

function listInUsualForm(element: z.ZodType, given: unknown): unknown {
  const read = fromJson(given) ?? given;
  const list: readonly unknown[] | null = Array.isArray(read) ? read : isOne(read) ? [read] : null;
  return list === null ? given : list.map((item) => inUsualForm(element, item));
}

/** Null and an empty text mean that nothing is given. */
function isOne(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** What a JSON text of a list or an object says; null for everything else. */
function fromJson(given: unknown): unknown {
  if (typeof given !== "string" || !MAYBE_JSON.test(given)) return null;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return null;
  }
}

/** What other services, and so models, call our fields. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  accountId: ["account", "channel", "channelId", "accountIds", "channels"],
  caption: ["text", "message", "content", "body"],
  mediaUrl: ["media", "image", "imageUrl", "photo", "video", "videoUrl", "file", "fileId", "mediaUrls"],
  scheduledAt: ["time", "date", "when", "at", "scheduleAt", "scheduledFor", "scheduledTime", "publishAt"],
  id: ["postId", "fileId", "webhookId"],
};

/** Where the value of a field that nobody knows belongs, among those there are; null where nothing tells. */
export function meantField(given: string, known: readonly string[]): string | null {
  const name = given.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (known.includes(name)) return name;
  if (known.includes("metadata") && Object.hasOwn(commonMetadata, name)) return `metadata.${name}`;
  return known.find((one) => ELSEWHERE[one]?.includes(name) === true) ?? nearestName(name, known);
}
