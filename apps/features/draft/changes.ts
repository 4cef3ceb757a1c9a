import type { Draft } from "../../../src/domain/drafts/draft.ts";
import type { Post } from "../../../src/domain/posts/post.ts";

/** The part of it that is on one channel. */
interface ChannelSnapshot {
  readonly accountId: string;
  readonly scheduledAt: string | null;
  readonly texts: readonly string[];
  readonly media: readonly string[];
  /** All fields of the platform, as text. */
  readonly fields: string;
}

/** A draft as a person last saw it, to show what changed since. */
export interface DraftSnapshot {
  readonly id: string;
  readonly revision: number;
  readonly title: string | null;
  readonly note: string | null;
  readonly labels: readonly string[];
  /** A time, or the rule of a series as text; null: at once. */
  readonly time: string | null;
  readonly isNextSlot: boolean;
  readonly repeat: string | null;
  readonly channels: readonly ChannelSnapshot[];
}

export function snapshotOf(draft: Draft): DraftSnapshot {
  const { id, revision, title, note, labels, scheduledAt, slot, repeat } = draft;
  return {
    id,
    revision,
    title,
    note,
    labels,
    time: scheduledAt,
    isNextSlot: slot !== null,
    repeat: repeat === null ? null : JSON.stringify(repeat),
    channels: draft.targets.map((target) => {
      const preview = draft.checks.find(({ accountId }) => accountId === target.accountId)?.preview;
      const parts = preview === undefined ? [] : [{ text: preview.text ?? "", media: preview.media }];
      const all = [...parts, ...(preview?.parts ?? [])];
      return {
        accountId: target.accountId,
        scheduledAt: target.scheduledAt,
        texts: all.map(({ text }) => text),
        media: all.flatMap(({ media }) => media.map(({ url }) => url)),
        fields: JSON.stringify({ ...draft.metadata, ...target.metadata }),
      };
    }),
  };
}

/** How channels and times are written. */
export interface Words {
  channel(accountId: string): string;
  when(at: string): string;
}

/** Changes between two snapshots, in sentences. Changes of texts are marked in the text itself. */
export function changesBetween(before: DraftSnapshot, after: DraftSnapshot, words: Words): readonly string[] {
  const were = new Map(before.channels.map((one) => [one.accountId, one]));
  const are = new Set(after.channels.map(({ accountId }) => accountId));
  return [
    ...titleChange(before, after),
    ...timeChange(before, after, words),
    ...after.channels
      .filter(({ accountId }) => !were.has(accountId))
      .map(({ accountId }) => `It goes to ${words.channel(accountId)}, too.`),
    ...before.channels
      .filter(({ accountId }) => !are.has(accountId))
      .map(({ accountId }) => `It does not go to ${words.channel(accountId)} any more.`),
    ...channelChanges(were, after, words),
    ...labelChange(before.labels, after.labels),
    ...noteChange(before.note, after.note),
  ];
}

function titleChange({ title: before }: DraftSnapshot, { title: after }: DraftSnapshot): readonly string[] {
  if (before === after) return [];
  if (after === null) return [`The title “${before ?? ""}” is gone.`];
  return [before === null ? `Its title is “${after}”.` : `The title was “${before}”.`];
}

function timeChange(before: DraftSnapshot, after: DraftSnapshot, words: Words): readonly string[] {
  if (after.repeat !== before.repeat) {
    if (before.repeat === null) return ["It is a series now."];
    return [after.repeat === null ? "It is no series any more." : "The rule of the series was changed."];
  }
  if (after.time === before.time && after.isNextSlot === before.isNextSlot) return [];
  const [was, is] = [before, after].map((one) => timeInWords(one, words));
  return [`The time was ${was}. It is ${is} now.`];
}

function timeInWords({ time, isNextSlot }: DraftSnapshot, words: Words): string {
  if (time !== null) return words.when(time);
  return isNextSlot ? "the next free slot" : "at once when approved";
}

type ChangedField = "text" | "media" | "time" | "fields";

const PARTS: Readonly<Record<ChangedField, string>> = {
  text: "The text was changed",
  media: "The pictures or videos were changed",
  time: "The time of its own was changed",
  fields: "Other fields were changed",
};

/** One sentence for each kind of change; it names the channels unless it is on all. */
function channelChanges(
  were: ReadonlyMap<string, ChannelSnapshot>,
  after: DraftSnapshot,
  words: Words,
): readonly string[] {
  const kept = after.channels.flatMap((now) => {
    const before = were.get(now.accountId);
    return before === undefined ? [] : [{ now, parts: changedParts(before, now) }];
  });
  return (["text", "media", "time", "fields"] as const).flatMap((part) => {
    const on = kept
      .filter(({ parts }) => parts.includes(part))
      .map(({ now }) => words.channel(now.accountId));
    if (on.length === 0) return [];
    return [`${PARTS[part]}${on.length === after.channels.length ? "" : ` on ${on.join(", ")}`}.`];
  });
}

function changedParts(before: ChannelSnapshot, now: ChannelSnapshot): readonly ChangedField[] {
  const isChanged: Readonly<Record<ChangedField, boolean>> = {
    text: differ(before.texts, now.texts),
    media: differ(before.media, now.media),
    time: before.scheduledAt !== now.scheduledAt,
    fields:
      before.fields !== now.fields && !differ(before.texts, now.texts) && !differ(before.media, now.media),
  };
  return (["text", "media", "time", "fields"] as const).filter((part) => isChanged[part]);
}

function labelChange(before: readonly string[], after: readonly string[]): readonly string[] {
  const added = after.filter((label) => !before.includes(label));
  const gone = before.filter((label) => !after.includes(label));
  return [
    ...(added.length === 0 ? [] : [`New labels: ${added.join(", ")}.`]),
    ...(gone.length === 0 ? [] : [`Labels taken away: ${gone.join(", ")}.`]),
  ];
}

function noteChange(before: string | null, after: string | null): readonly string[] {
  if (before === after) return [];
  return [
    after === null ? "The note is gone." : before === null ? "There is a note." : "The note was changed.",
  ];
}

function differ(a: readonly string[], b: readonly string[]): boolean {
  return a.length !== b.length || a.some((one, at) => one !== b[at]);
}

/** Link parameters of a channel are added when its post is made. */
function withoutUtm(text: string | null): string {
  return (text ?? "").replace(/[?&]utm_\w+=[^&#\s]*/g, "").trim();
}

/** Whether a post says or does something else than the draft that it comes from. Posts of a series differ by themselves. */
export function isOtherThan(draft: Draft, post: Post): boolean {
  const target = draft.targets.find(({ accountId }) => accountId === post.accountId);
  if (target === undefined || draft.repeat !== null) return false;
  const text = target.caption ?? draft.caption;
  const at = target.scheduledAt ?? draft.scheduledAt;
  // It may have been approved for another time, and a try changes it, too.
  const isTouched = post.status === "scheduled" && post.attempts === 0 && post.updatedAt !== post.createdAt;
  const isMoved = isTouched && at !== null && Date.parse(at) !== Date.parse(post.scheduledAt);
  return isMoved || withoutUtm(text) !== withoutUtm(post.caption);
}
