import { forPeople } from "../../data/for-people.ts";
import { isJson, type Json, jsonOf, textOf } from "../../../shared/json.ts";

/** A field of a platform's own, as its JSON Schema tells it. */
export interface Field {
  readonly key: string;
  readonly label: string;
  readonly help: string;
  readonly isRequired: boolean;
  /** `lookup`: the platform tells the values. `picture`: an address of one. */
  readonly kind:
    "text" | "long" | "address" | "flag" | "choice" | "number" | "list" | "lookup" | "picture" | "poll";
  readonly options: readonly string[];
  readonly max: number | null;
  readonly schema: Json;
}

/** Fields that mean the same on every platform, and are asked for once. */
export const SHARED = [
  "title",
  "link",
  "description",
  "tags",
  "firstComment",
  "spoilerText",
  "sensitive",
  "visibility",
  "language",
  "thumbnailUrl",
  "poll",
  "format",
] as const;

const LABELS: Readonly<Record<string, string>> = {
  altText: "Alt text",
  firstComment: "First comment",
  format: "Read the text as",
  link: "Link",
  sensitive: "Hide media behind a click",
  spoilerText: "Content warning",
  thumbnailUrl: "Cover picture",
  nsfw: "For adults only",
};

/** Others have fields of their own on the page. */
const ELSEWHERE: readonly string[] = ["altText", "moreMedia", "thread"];

export function fieldsOf(schema: Json | undefined): readonly Field[] {
  const required = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  return Object.entries(jsonOf(schema?.["properties"])).flatMap(([key, value]) => {
    const property = jsonOf(value);
    const kind = ELSEWHERE.includes(key) ? null : kindOf(property);
    if (kind === null) return [];
    const text = textOf(property["description"]);
    return [
      {
        key,
        label: labelOf(key),
        help: helpOf(text),
        isRequired: required.includes(key) || /\brequired\b/.test(text),
        kind,
        options: optionsOf(property),
        max: typeof property["maxLength"] === "number" ? property["maxLength"] : null,
        schema: property,
      },
    ];
  });
}

export function takesKey(schema: Json | undefined, key: string): boolean {
  return Object.hasOwn(jsonOf(schema?.["properties"]), key);
}

export function isShared(key: string): boolean {
  return SHARED.some((one) => one === key);
}

/** `playlistId` as "Playlist". */
export function labelOf(key: string): string {
  const known = LABELS[key];
  if (known !== undefined) return known;
  const words = key
    .replace(/(Id|Url|Ms)$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value such as `PUBLIC_TO_EVERYONE` or `followersOnly`, in words. */
export function optionLabel(value: string): string {
  const words = value
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const LONG_CHARS = 301;

/** Null: no field of a form. */
function kindOf(property: Json): Field["kind"] | null {
  const type = property["type"];
  const text = textOf(property["description"]);
  if (type === "boolean") return "flag";
  if (type === "integer" || type === "number") return "number";
  if (property["media"] === "thumbnail") return "picture";
  if (optionsOf(property).length > 0) return "choice";
  if (type === "object" && Object.hasOwn(jsonOf(property["properties"]), "options")) return "poll";
  if (type === "array") return textOf(jsonOf(property["items"])["type"]) === "string" ? "list" : null;
  if (type !== "string") return null;
  if (text.includes("list_choices")) return "lookup";
  if (property["format"] === "uri") return "address";
  return Number(property["maxLength"] ?? 0) >= LONG_CHARS ? "long" : "text";
}

function optionsOf(property: Json): readonly string[] {
  const ways = [property, ...(Array.isArray(property["anyOf"]) ? property["anyOf"].filter(isJson) : [])];
  const values = ways.map((way) => way["enum"]).find((one) => Array.isArray(one)) ?? [];
  return Array.isArray(values) ? values.filter((one): one is string => typeof one === "string") : [];
}

/** Descriptions are written for agents, too: what they should call is left out here. */
function helpOf(description: string): string {
  const text = description
    .replace(/,? ?(from|\() ?list_choices[^).]*\)?/g, "")
    .split(".")
    .filter((sentence) => !/\blist_choices\b/.test(sentence))
    .join(".")
    .replace(/Picture shown before the media plays: an https address.*/, "Shown before the film plays.")
    .trim();
  return forPeople(text);
}
