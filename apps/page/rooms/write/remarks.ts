import type { Sentence } from "../../../../src/domain/sentences.ts";
import { sentencesBehind } from "../../../shared/sentences.ts";
import { PAGE_WORDS, sentenceInWords } from "../../../words.ts";
import type { Check } from "../../../../src/domain/drafts/draft.ts";
import type { Form } from "./form.ts";
import { listed } from "../../../shared/texts.ts";

/** Something that the server says of a channel's post, about one field. */
export interface Remark {
  readonly accountId: string;
  readonly isError: boolean;
  /** `caption`, `media`, `when`, a key of the metadata, or `channel`. */
  readonly field: string;
  readonly text: string;
  /** It asks for an alt text. */
  readonly wantsAltText?: true;
}

/** What the server says, in words of the page, by the fields of the form. */
export function splitByField(
  said: readonly Sentence[],
): readonly { readonly field: string; readonly text: string }[] {
  return said.map((one) => ({ field: fieldOf(one.field ?? ""), text: sentenceInWords(one, PAGE_WORDS) }));
}

function fieldOf(path: string): string {
  const [first = "", second = ""] = path.split(/[.[\],]/);
  if (first === "caption") return "caption";
  if (first === "mediaUrl") return "media";
  if (["scheduledAt", "slot", "repeat"].includes(first)) return "when";
  if (first !== "metadata") return "channel";
  return second === "altText" || second === "moreMedia" ? "media" : second || "channel";
}

/** All that is said of a draft's channels. */
export function remarksOf(checks: readonly Check[]): readonly Remark[] {
  return checks.flatMap((check) => {
    const { accountId, warnings, preview } = check;
    const { count } = preview;
    const warned = warnings.flatMap((_, at) => sentencesBehind(warnings, at));
    const told = [
      ...splitByField(sentencesBehind(check, "error")).map((one) => ({ ...one, isError: true })),
      ...warned.flatMap((one) => {
        const wants = one.field?.endsWith("altText") === true ? ({ wantsAltText: true } as const) : {};
        return splitByField([one]).map((split) => ({ ...split, ...wants, isError: false }));
      }),
    ];
    const over = count.max === null ? 0 : count.length - count.max;
    // The server names one thing after the other.
    if (over > 0 && !told.some(({ field }) => field === "caption"))
      told.push({
        field: "caption",
        text: `The text is ${over} ${count.unit === "bytes" ? "bytes" : "characters"} too long. Shorten it.`,
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

const SINCE = "Since then: ";

/**
 * `Claude changed caption, targets` as "In the meantime Claude changed the text, the channels." `me`: who reads it, who
 * may have another window. Null: nothing is told.
 */
export function changesIn(said: readonly Sentence[], me: string): string | null {
  const what = said.find((one) => one.what.includes(SINCE))?.what;
  if (what === undefined) return null;
  const told = what.slice(what.indexOf(SINCE) + SINCE.length).replace(/\.$/, "");
  const changes = told.split("; ").map((one) => {
    const at = one.lastIndexOf(" changed ");
    const fields = one
      .slice(at + " changed ".length)
      .split(", ")
      .map((field) => CHANGED[field] ?? field);
    return { who: one.slice(0, at), what: [...new Set(fields)].join(", ") };
  });
  if (changes.every(({ who }) => who === me))
    return `It was changed in another window: ${[...new Set(changes.map((one) => one.what))].join(", ")}.`;
  const people = changes.map((one) => `${one.who === me ? "you" : one.who} changed ${one.what}`);
  return `In the meantime ${[...new Set(people)].join(", and ")}.`;
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

interface FormView {
  readonly form: Form;
  /** The fields beside the text. */
  readonly shared: readonly string[];
  /** Channels without slots; that is said below the time, not as an error. */
  readonly slotless: readonly string[];
}

/** Whether no part shows it in red. */
function isUnshown(remark: Remark, { form, shared, slotless }: FormView): boolean {
  const place = placeOf(remark, form, shared);
  return place === "nowhere" || (place === "when" && slotless.includes(remark.accountId));
}

/** Why it cannot go out yet: the reason if no part of the form shows it, else where to look. */
export function failuresInWords(
  failing: readonly Check[],
  shown: FormView,
  channelName: (accountId: string) => string,
): string {
  const errors = remarksOf(failing).filter(({ isError }) => isError);
  const slotless = errors.filter((one) => isUnshown(one, shown) && shown.slotless.includes(one.accountId));
  if (slotless.length > 0) return slotlessInWords(shown.slotless.map(channelName));
  const unshown = errors.find((one) => isUnshown(one, shown));
  if (unshown !== undefined) return `Not yet: ${channelName(unshown.accountId)}: ${unshown.text}`;
  const [one] = failing.length === 1 ? failing : [];
  const where = one === undefined ? `${failing.length} channels` : channelName(one.accountId);
  return `Not yet: there is something to mend for ${where}. It is said in red where it belongs.`;
}

/** Says which channels have no slots. */
export function slotlessInWords(names: readonly string[]): string {
  return names.length === 1
    ? `${names.join("")} has no slots yet. Set its times, or choose another time.`
    : `${listed(names)} have no slots yet. Set their times, or choose another time.`;
}

/** Without the reason why the post failed before: that is shown at the top. */
export function withoutReason(remarks: readonly Remark[], reason: string | null): readonly Remark[] {
  if (reason === null) return remarks;
  return remarks.flatMap((remark) => {
    const text = remark.text.split(" It failed before:")[0] ?? "";
    return remark.isError ? [remark] : text === "" || reason.includes(text) ? [] : [{ ...remark, text }];
  });
}

/** Without what asks for alt texts that are typed by now. */
export function withoutTyped(remarks: readonly Remark[], { media, targets }: Form): readonly Remark[] {
  const isTyped = ({ accountId }: Remark): boolean => {
    const own = targets.find((target) => target.accountId === accountId)?.media ?? media;
    return own.every(({ altText }) => altText.trim() !== "");
  };
  return remarks.filter((remark) => remark.wantsAltText !== true || !isTyped(remark));
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
