import { upperFirst, wordsOfKey, wordsOfValue } from "../../../../src/domain/posts/for-people.ts";
import { isJson, type Json, jsonOf, textOf } from "../../../shared/json.ts";
import { withValues } from "../../../shared/values.ts";

/** A field of a platform's own, as its JSON Schema tells it. */
export interface Field {
  readonly key: string;
  readonly label: string;
  readonly help: string;
  /** What holds where nothing is chosen, in words; "": the platform decides. */
  readonly usual: string;
  readonly isRequired: boolean;
  /**
   * `lookup`: the platform tells the values. `picture`: an address of one. `permit`: true forbids it, and it is
   * forbidden until a person permits it. `disclosure`: what the post advertises.
   */
  readonly kind:
    | "text"
    | "long"
    | "address"
    | "flag"
    | "choice"
    | "number"
    | "list"
    | "lookup"
    | "picture"
    | "poll"
    | "permit"
    | "disclosure";
  readonly options: readonly string[];
  readonly max: number | null;
  readonly schema: Json;
}

/** Fields that mean the same on every platform, and are asked for once. */
const SHARED = [
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
  aiGenerated: "Made with AI",
  altText: "Alt text",
  canonicalUrl: "Where it first appeared",
  comments: "Comments",
  containsSyntheticMedia: "Altered or made with AI",
  downloadEnabled: "Downloads",
  firstComment: "First comment",
  format: "Read the text as",
  link: "Link",
  linkPreview: "Previews of links",
  linkPreviews: "Previews of links",
  quote: "Quoted post",
  sensitive: "Hide media behind a click",
  spoilerText: "Content warning",
  thumbnailUrl: "Cover picture",
  nsfw: "For adults only",
};

/** Fields that agents may call by two names are listed once. */
const OLD_NAME = /^The same as |\ban older way to say\b/;

/** Others have fields of their own on the page. */
const ELSEWHERE: readonly string[] = ["altText", "moreMedia", "thread"];

export function fieldsOf(schema: Json | undefined): readonly Field[] {
  const required = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  return Object.entries(jsonOf(schema?.["properties"])).flatMap(([key, value]) => {
    const property = jsonOf(value);
    const text = textOf(property["description"]);
    const kind = ELSEWHERE.includes(key) || OLD_NAME.test(text) ? null : kindOf(property);
    if (kind === null) return [];
    return [
      {
        key,
        label: nameOf(property) || labelOf(key),
        help: helpOf(text, optionsOf(property)),
        usual: usualOf(text),
        isRequired: required.includes(key) || /\brequired\b/.test(text),
        kind,
        options: optionsOf(property),
        max: typeof property["maxLength"] === "number" ? property["maxLength"] : null,
        schema: property,
      },
    ];
  });
}

function nameOf(property: Json): string {
  return textOf(property["permits"] ?? property["discloses"] ?? property["title"]);
}

/** What those who post there agree to. `with`: only where that field is set. */
interface Agreement {
  readonly title: string;
  readonly url: string;
  readonly with: string;
}

export function agreementsOf(schema: Json | undefined): readonly Agreement[] {
  const all = Array.isArray(schema?.["agreements"]) ? schema["agreements"].filter(isJson) : [];
  return all.map((one) => ({
    title: textOf(one["title"]),
    url: textOf(one["url"]),
    with: textOf(one["with"]),
  }));
}

export function takesKey(schema: Json | undefined, key: string): boolean {
  return Object.hasOwn(jsonOf(schema?.["properties"]), key);
}

export function isShared(key: string): boolean {
  return SHARED.some((one) => one === key);
}

/** `playlistId` as "Playlist". */
export function labelOf(key: string): string {
  return LABELS[key] ?? upperFirst(wordsOfKey(key));
}

const LONG_CHARS = 301;

/** Null: no field of a form. */
function kindOf(property: Json): Field["kind"] | null {
  const type = property["type"];
  const text = textOf(property["description"]);
  if (textOf(property["permits"]) !== "") return "permit";
  if (textOf(property["discloses"]) !== "") return "disclosure";
  if (type === "boolean") return "flag";
  if (type === "integer" || type === "number") return "number";
  if (property["media"] === "thumbnail") return "picture";
  if (text.includes("list_choices") && type === "string") return "lookup";
  if (optionsOf(property).length > 0) return "choice";
  if (type === "object" && Object.hasOwn(jsonOf(property["properties"]), "options")) return "poll";
  if (type === "array") return textOf(jsonOf(property["items"])["type"]) === "string" ? "list" : null;
  if (type !== "string") return null;
  if (property["format"] === "uri") return "address";
  return Number(property["maxLength"] ?? 0) >= LONG_CHARS ? "long" : "text";
}

function optionsOf(property: Json): readonly string[] {
  const ways = [property, ...(Array.isArray(property["anyOf"]) ? property["anyOf"].filter(isJson) : [])];
  const values = ways.map((way) => way["enum"]).find((one) => Array.isArray(one)) ?? [];
  return Array.isArray(values) ? values.filter((one): one is string => typeof one === "string") : [];
}

/** `Default: public.`, `Default true.` or `public (default)` at the choice "public". */
function usualOf(description: string): string {
  const [, after = "", before = ""] =
    /\bDefault:? ([^.,:]{1,80})|\b([\w-]{1,40}) \(default\)/i.exec(description) ?? [];
  return withValues(wordOf((after || before).trim()));
}

/** Booleans, and values that are no words, as a person reads them. */
function wordOf(value: string): string {
  if (value === "true") return "Yes";
  if (value === "false") return "No";
  return /^[A-Z_]{2,}$|^[a-z]+[-_A-Z][\w-]*$/.test(value) ? wordsOfValue(value) : value;
}

/** Descriptions are written for agents, too: what they should call and send is put into words. */
function helpOf(description: string, options: readonly string[]): string {
  const text = description
    .replace(/,? ?(from|\() ?list_choices[^).]*\)?/g, "")
    .split(".")
    .filter((sentence) => !/\blist_choices\b|\{/.test(sentence))
    .join(".")
    .replace(/Picture shown before the media plays: an https address.*/, "Shown before the video plays.")
    .replace(/ ?\bDefault:? (true|false)\b\.?/g, "")
    .replace(
      /^(True|False): (.)/,
      (_, flag: string, first: string) => `${wordOf(flag.toLowerCase())}: ${first}`,
    )
    .trim();
  const named = options.filter((one) => /[A-Z_-]/.test(one) || text.includes(`${one}: `));
  return withValues(
    text.replace(/[\w-]+/g, (word) => (named.includes(word) ? `“${wordsOfValue(word)}”` : word)),
  );
}
