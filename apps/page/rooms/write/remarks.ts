import type { Check } from "../../../../src/domain/drafts/draft.ts";
import { forPeople } from "../../data/for-people.ts";
import type { Form } from "./form.ts";
import { labelOf } from "./fields.ts";

/** Something that the server says of a channel's post, about one field. */
export interface Remark {
  readonly accountId: string;
  readonly isError: boolean;
  /** `caption`, `media`, `when`, a key of the metadata, or `channel`. */
  readonly field: string;
  readonly text: string;
}

const FIELD =
  /(?<=^|[.!?] )(caption|mediaUrl|scheduledAt|slot|repeat|accountId|leadMinutes|targets|metadata)([^\s:]*): /g;

/** A sentence as `caption: is too long. mediaUrl: is required.`, taken apart by its fields. */
export function splitByField(sentence: string): readonly { readonly field: string; readonly text: string }[] {
  const starts = [...sentence.matchAll(FIELD)];
  const head = sentence.slice(0, starts[0]?.index ?? sentence.length).trim();
  const parts = starts.map((start, at) => ({
    path: `${start[1]}${start[2]}`,
    text: sentence.slice(start.index + start[0].length, starts[at + 1]?.index).trim(),
  }));
  return [
    ...(head === "" ? [] : [{ field: "channel", text: upper(inWords(head)) }]),
    ...parts.map(({ path, text }) => {
      const field = fieldOf(path);
      return { field, text: upper(inWords(withSubject(field, text))) };
    }),
  ];
}

function fieldOf(path: string): string {
  const [first = "", second = ""] = path.split(/[.[\],]/);
  if (first === "caption") return "caption";
  if (first === "mediaUrl") return "media";
  if (["scheduledAt", "slot", "repeat"].includes(first)) return "when";
  if (first !== "metadata") return "channel";
  return second === "altText" || second === "moreMedia" ? "media" : second || "channel";
}

/** What of a refusal begins with a verb has the field as its subject. */
function withSubject(field: string, text: string): string {
  if (!/^(is|are|has|have|must|may|can|cannot|takes|does)\b/.test(text)) return text;
  const subject =
    { caption: "The text", media: "A picture or film", when: "The time", channel: "It", thread: "A part" }[
      field
    ] ?? labelOf(field);
  return `${subject} ${text}`;
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b[Cc]all connect_channel with provider "[^"]*" and accountId "[^"]*"/g, "Do so under Channels"],
  [/\b(graphemes|weighted)\b/g, "characters"],
  [/Give an https address, or a file from list_files\.?/g, "Add one."],
  [/,? or leave scheduledAt out to publish now/g, ", or choose Now"],
  [/Give a (string|number|boolean)\./g, "Fill it in."],
  [/\bscheduledAt\b/g, "the time"],
  [/\bmediaUrl\b/g, "the first picture"],
  [/\bmetadata\.(\w+)/g, "$1"],
];

function inWords(text: string): string {
  return forPeople(WORDS.reduce((so, [pattern, words]) => so.replace(pattern, words), text));
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** All that is said of a draft's channels. */
export function remarksOf(checks: readonly Check[]): readonly Remark[] {
  return checks.flatMap(({ accountId, error, warnings, preview: { count } }) => {
    const told = [
      ...(error === null ? [] : splitByField(error).map((one) => ({ ...one, isError: true }))),
      ...warnings.flatMap((warning) => splitByField(warning).map((one) => ({ ...one, isError: false }))),
    ];
    const over = count.max === null ? 0 : count.length - count.max;
    // The server names one thing after the other.
    if (over > 0 && !told.some(({ field }) => field === "caption"))
      told.push({
        field: "caption",
        text: inWords(`The text is ${over} ${count.unit} too long. Shorten it.`),
        isError: true,
      });
    return told.map((one) => ({ ...one, accountId }));
  });
}

const CHANGED: Readonly<Record<string, string>> = {
  title: "the name",
  caption: "the text",
  mediaUrl: "the pictures",
  metadata: "other fields",
  targets: "the channels",
  scheduledAt: "the time",
  slot: "the time",
  repeat: "the time",
  labels: "labels",
  note: "the note",
};

/** `Claude changed caption, targets` as "Claude changed the text, the channels". Null: it is not told. */
export function changesIn(sentence: string): string | null {
  const [, after] = sentence.split("Since then: ");
  const [told, rest] = after?.split(". Read it") ?? [];
  if (told === undefined || rest === undefined) return null;
  const people = told.split("; ").map((one) => {
    const at = one.lastIndexOf(" changed ") + " changed ".length;
    const fields = one
      .slice(at)
      .split(", ")
      .map((field) => CHANGED[field] ?? field);
    return one.slice(0, at) + [...new Set(fields)].join(", ");
  });
  return [...new Set(people)].join(", and ");
}

/** Where a remark belongs: beside a shared field, or in the box of its channel. */
export function placeOf({ accountId, field }: Remark, form: Form, shared: readonly string[]): string {
  const target = form.targets.find((one) => one.accountId === accountId);
  const own = `of ${accountId}`;
  if (target === undefined) return "nowhere";
  if (field === "caption") return target.caption === null ? "caption" : own;
  if (field === "media") return target.media === null ? "media" : own;
  if (field === "when") return target.at === null ? "when" : own;
  if (field === "thread") return "thread";
  return shared.includes(field) && !Object.hasOwn(target.metadata, field) ? field : own;
}

/** Remarks of the same words together, with the channels that they are about. */
export function grouped(
  remarks: readonly Remark[],
): readonly { readonly accountIds: readonly string[]; readonly isError: boolean; readonly text: string }[] {
  const byText = new Map<string, { accountIds: string[]; isError: boolean; text: string }>();
  for (const { accountId, isError, text } of remarks) {
    const known = byText.get(text);
    if (known === undefined) byText.set(text, { accountIds: [accountId], isError, text });
    else if (!known.accountIds.includes(accountId)) known.accountIds.push(accountId);
  }
  return [...byText.values()].sort((a, b) => Number(b.isError) - Number(a.isError));
}
