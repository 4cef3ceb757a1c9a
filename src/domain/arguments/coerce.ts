import { jsonIn } from "../text/read-text.ts";
import * as z from "zod";
import { explainInvalid, isFields } from "../explain-invalid.ts";
import { unwrapped } from "../optional.ts";
import { commonMetadata } from "../posts/common-metadata.ts";
import { asClockTime, asWeekday, isTime } from "../time-fields.ts";
import { nearestName } from "../settings/nearest-name.ts";
import { leadOf } from "./leads.ts";
import { requireWholeTexts } from "../whole-text.ts";

/** "1.0" is none: digits alone are a whole number, and nothing else is bent into one. */
const NUMBER = /^-?\d{1,15}(?:\.\d{0,14}[1-9])?$/;
const BOOLEAN = /^(?:true|false)$/i;
const MAYBE_JSON = /^\s*[[{]/;

/**
 * Arguments as they are meant. Models, and command lines, write some in another form that means the same for
 * certain: one value for a list of one, digits for a number, `"true"` for true, JSON text for a list or an object.
 * A text stays as it is wherever a text is taken. Models also send null or an empty text for what they leave out.
 * So both leave out an argument that may be left out, at every depth, unless its schema takes them for a value: a
 * text with `min(0)` may be empty, what is nullable is emptied by null, and a nullable text by an empty one, too. Only a
 * time is never left out by an empty text.
 */
export function coerceArguments(schema: z.ZodType, given: unknown): unknown {
  const plain = unwrapped(schema);
  const text = typeof given === "string" ? given.trim() : "";
  if (plain instanceof z.ZodNumber) return NUMBER.test(text) ? Number(text) : given;
  if (plain instanceof z.ZodBoolean) return BOOLEAN.test(text) ? text.toLowerCase() === "true" : given;
  if (plain instanceof z.ZodString || plain instanceof z.ZodEnum)
    return typeof given === "string" ? asWeekday(plain, asClockTime(plain, given)) : given;
  const read = readJson(given);
  if (plain instanceof z.ZodRecord) return read;
  if (plain instanceof z.ZodArray) {
    // Null and an empty text mean that nothing is given.
    if (read === undefined || isEmpty(read)) return given;
    const list: readonly unknown[] = Array.isArray(read) ? read : [read];
    return list.map((item) => coerceArguments(plain.element as z.ZodType, item));
  }
  if (!(plain instanceof z.ZodObject)) return given;
  if (text !== "" && read === given && isChannel(plain)) return { [CHANNEL]: given };
  if (!isFields(read)) return given;
  const meant = Object.entries(read).flatMap(([name, value]) => {
    const field = Object.hasOwn(plain.shape, name) ? (plain.shape[name] as z.ZodType) : undefined;
    if (field === undefined) return [[name, value]];
    // An empty id is none, also where one is required.
    if (value === "" && IS_ID.test(name)) return [];
    const kept = isEmpty(value) ? emptyMeaning(field, value) : value;
    return kept === undefined ? [] : [[name, coerceArguments(field, kept)]];
  });
  return Object.fromEntries(meant);
}

const CHANNEL = "accountId";
const IS_ID = /^(?:id|[a-z]+Id)$/;

/**
 * An object that a channel alone makes, as null stands for all else there, so that its name will do:
 * `targets: ["mastodon"]`. A post is more than its channel.
 */
function isChannel({ shape }: z.ZodObject): boolean {
  const others = Object.entries(shape).filter(([name]) => name !== CHANNEL);
  return CHANNEL in shape && others.every(([, field]) => (field as z.ZodType).safeParse(null).success);
}

/** What null or an empty text stands for. Undefined: for no value. */
function emptyMeaning(field: z.ZodType, given: null | ""): unknown {
  if (given === "" && isTime(field)) return given;
  const isRequired = !field.safeParse(undefined).success;
  const plain = unwrapped(field);
  const isText = plain instanceof z.ZodString;
  if (isRequired || (given === "" && isText && plain.minLength === 0)) return given;
  return (given === null || isText) && field.safeParse(null).success ? null : undefined;
}

/** The names of arguments that came as null or an empty text. */
export function emptyAmong(args: unknown): string[] {
  return isFields(args) ? Object.keys(args).filter((name) => isEmpty(args[name])) : [];
}

function isEmpty(value: unknown): value is null | "" {
  return value === null || value === "";
}

/** What a JSON text of a list or an object says; everything else as it is. */
function readJson(given: unknown): unknown {
  return typeof given === "string" && MAYBE_JSON.test(given) ? (jsonIn(given) ?? given) : given;
}

/**
 * What a caller gave, as the schema has it. `known`: the fields that a refusal of an unknown one names; default:
 * all of the schema's. Throws `invalid`.
 */
export function readArguments<S extends z.ZodObject>(
  schema: S,
  args: unknown,
  known?: readonly string[],
): z.output<S> {
  const given = isFields(args) ? coerceArguments(schema, args) : (args ?? {});
  // After that: what came as JSON in a text is looked at, too.
  requireWholeTexts(given);
  // `reportInput`: a missing field and a wrong one need different sentences.
  const parsed = schema.safeParse(given, { reportInput: true });
  if (!parsed.success)
    throw explainInvalid(parsed.error, schema, {
      meant: suggestField,
      lead: leadOf,
      ...(known === undefined ? {} : { known }),
    });
  return parsed.data;
}

/** What other services, and so models, call our fields. */
export const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  accountId: ["account", "channel", "channelId", "accountIds", "accounts", "channels"],
  caption: ["text", "message", "content", "body", "post", "copy"],
  mediaUrl: [
    "media",
    "mediaUrls",
    "image",
    "images",
    "imageUrl",
    "picture",
    "pictures",
    "pictureUrl",
    "photo",
    "photos",
    "photoUrl",
    "video",
    "videos",
    "videoUrl",
    "file",
    "fileId",
  ],
  scheduledAt: [
    "time",
    "date",
    "dateTime",
    "when",
    "at",
    "scheduleAt",
    "scheduledFor",
    "scheduledTime",
    "scheduledDate",
    "publishAt",
    "publishDate",
    "publishTime",
    "postingTime",
  ],
  targets: ["accountId", "account", "accounts", "accountIds", "channel", "channels", "channelId"],
  toDay: ["scheduledAt", "date", "day", "moveTo", "newDate"],
  labels: ["label"],
  note: ["notes"],
  altText: ["alt"],
  id: ["postId", "fileId", "webhookId"],
};

/** Where the value of an unknown field belongs, among those there are. Null where nothing tells. */
export function suggestField(given: string, known: readonly string[]): string | null {
  const name = given.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (known.includes(name)) return name;
  if (known.includes("metadata") && Object.hasOwn(commonMetadata, name)) return `metadata.${name}`;
  return known.find((one) => OTHER_NAMES[one]?.includes(name) === true) ?? nearestName(name, known);
}
