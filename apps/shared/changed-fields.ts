import { type Json, jsonOf, textOf } from "./json.ts";

const PICTURES = "the pictures";

/** What fields of a post are called. Those of its metadata stand beside the others, as `metadata.title`. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  accountId: "the channel",
  caption: "the text",
  mediaUrl: PICTURES,
  scheduledAt: "the time",
  "metadata.altText": "what pictures show",
  "metadata.moreMedia": PICTURES,
  "metadata.thread": "the posts that follow",
  "metadata.title": "the title",
};

/** The fields of these that differ. */
export function differing(fields: readonly string[], one: Json, other: Json): readonly string[] {
  return fields.flatMap((field) => {
    if (JSON.stringify(one[field] ?? null) === JSON.stringify(other[field] ?? null)) return [];
    if (field !== "metadata") return [field];
    const [a, b] = [jsonOf(one[field]), jsonOf(other[field])];
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return differing(keys, a, b).map((key) => `metadata.${key}`);
  });
}

const MAX_TEXT = 200;

/** What others changed of these fields, and what text and time are now. */
export function changedInWords(keys: readonly string[], theirs: Json, when: (ms: number) => string): string {
  const names = [...new Set(keys.map((key) => FIELD_NAMES[key] ?? "other fields"))];
  const caption = textOf(theirs["caption"]);
  const text = caption.length > MAX_TEXT ? `${caption.slice(0, MAX_TEXT)}…` : caption;
  return [
    `Changed meanwhile: ${names.join(", ")}.`,
    ...(keys.includes("caption")
      ? [text === "" ? "There is no text now." : `The text is now “${text}”.`]
      : []),
    ...(keys.includes("scheduledAt")
      ? [`The time is now ${when(Date.parse(textOf(theirs["scheduledAt"])))}.`]
      : []),
  ].join(" ");
}

/** What others changed beside what was saved here. Empty: nothing. */
export function elsewhereInWords(keys: readonly string[], now: Json, when: (ms: number) => string): string {
  const others = keys.filter((key) => key !== "scheduledAt");
  const names = new Set(others.map((key) => FIELD_NAMES[key] ?? "other fields"));
  return [
    ...(keys.includes("scheduledAt")
      ? [`Elsewhere it was moved to ${when(Date.parse(textOf(now["scheduledAt"])))}.`]
      : []),
    ...(names.size > 0 ? [`Changed elsewhere: ${[...names].join(", ")}.`] : []),
  ].join(" ");
}
