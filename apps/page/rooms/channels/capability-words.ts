import type { Capabilities, MediaKind, MediaLimits, Quota } from "../../../../src/domain/accounts/account.ts";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { nameOfType, upperFirst } from "../../../../src/domain/posts/for-people.ts";

const KINDS: Readonly<
  Record<MediaKind, { readonly one: string; readonly many: string; readonly title: string }>
> = {
  image: { one: "picture", many: "pictures", title: "Pictures" },
  video: { one: "video", many: "videos", title: "Videos" },
  audio: { one: "audio file", many: "audio files", title: "Audio" },
  document: { one: "document", many: "documents", title: "Documents" },
};

/** What a channel takes, as one line: `Up to 4 pictures, or 1 video of up to 2 min; 500 characters`. */
export function takesInWords({ media, caption }: Pick<Capabilities, "media" | "caption">): string {
  return `${mediaInWords(media)}; ${textInWords(caption)}`;
}

/** The same of what a short list tells of a platform. */
export function takesInShort({ media, caption }: Pick<PlatformListing, "media" | "caption">): string {
  const kinds =
    media.length === 0
      ? "Texts"
      : upperFirst(
          listOf(
            media.map((kind) => KINDS[kind].many),
            "and",
          ),
        );
  return `${kinds}; ${textInWords(caption)}`;
}

function mediaInWords({ accepts, maxItems }: Capabilities["media"]): string {
  const kinds = Object.keys(KINDS).flatMap((kind) => {
    const entries = accepts.filter((entry) => entry.kind === kind);
    return entries.length === 0 ? [] : [merge(entries, maxItems)];
  });
  const [first] = kinds;
  if (first === undefined) return "Text only";
  const isMixed = kinds.length > 1 && first.count > 1 && kinds.every(({ count }) => count === first.count);
  if (!isMixed) return upperFirst(kinds.map(phraseOf).join(", or "));
  const lengths = kinds.flatMap(({ kind, seconds }) =>
    seconds === null ? [] : [`${KINDS[kind].many} of up to ${lengthInWords(seconds)}`],
  );
  const all = listOf(
    kinds.map(({ kind }) => KINDS[kind].many),
    "and",
  );
  return `Up to ${first.count} ${all}${lengths.length === 0 ? "" : ` (${lengths.join(", ")})`}`;
}

interface KindLimit {
  readonly kind: MediaKind;
  readonly count: number;
  /** Null: as long as one likes. */
  readonly seconds: number | null;
}

/** Entries of one kind differ by their types; what the most generous of them takes is taken. */
function merge(entries: readonly MediaLimits[], maxItems: number): KindLimit {
  const lengths = entries.map(({ maxSeconds }) => maxSeconds ?? Infinity);
  const seconds = Math.max(...lengths);
  return {
    kind: entries[0]?.kind ?? "image",
    count: Math.min(maxItems, Math.max(...entries.map((entry) => entry.maxItems))),
    seconds: Number.isFinite(seconds) ? seconds : null,
  };
}

function phraseOf({ kind, count, seconds }: KindLimit): string {
  const { one, many } = KINDS[kind];
  const things = count === 1 ? `1 ${one}` : `up to ${count} ${many}`;
  return seconds === null ? things : `${things} of up to ${lengthInWords(seconds)}`;
}

export function textInWords({ maxLength, unit, withMedia }: Capabilities["caption"]): string {
  if (maxLength === null) return "texts of any length";
  const word = unit === "bytes" ? "bytes of text" : "characters";
  const beside = withMedia === undefined ? "" : ` (${numberOf(withMedia)} beside media)`;
  return `${numberOf(maxLength)} ${word}${beside}`;
}

export function lengthInWords(seconds: number): string {
  if (seconds < 120 && seconds % 60 !== 0) return `${seconds} s`;
  if (seconds < 2 * 3_600)
    return `${numberOf(Math.floor(seconds / 60))} min${seconds % 60 === 0 ? "" : ` ${seconds % 60} s`}`;
  return `${numberOf(Math.floor(seconds / 3_600))} h`;
}

const UNITS = ["bytes", "kB", "MB", "GB"] as const;

export function sizeInWords(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${numberOf(Math.round(value))} ${UNITS[unit] ?? ""}`;
}

/** Of each kind of file: its types and how large it may be. */
export function filesInWords({ accepts }: Capabilities["media"]): readonly { title: string; text: string }[] {
  return accepts.map(({ kind, mimeTypes, maxBytes, maxSeconds, maxPages }) => ({
    title: KINDS[kind].title,
    text: [
      mimeTypes.map(nameOfType).join(", "),
      ...(maxBytes === null ? [] : [`up to ${sizeInWords(maxBytes)}`]),
      ...(maxSeconds === null ? [] : [`up to ${lengthInWords(maxSeconds)}`]),
      ...(maxPages === undefined ? [] : [`up to ${maxPages} pages`]),
    ].join("; "),
  }));
}

/** What else is good to know of a channel, a sentence each. */
export function abilitiesInWords(capabilities: Capabilities, title: string): readonly string[] {
  const { media, nativeScheduling, editPublished, remove, needsPublicMediaUrl } = capabilities;
  return [
    ...(media.required ? ["Each post needs a file."] : []),
    ...(nativeScheduling ? [`${title} can hold a post, unseen, until its time.`] : []),
    editPublished.fields.includes("caption")
      ? "The text of a live post can be changed."
      : "The text of a live post cannot be changed.",
    remove.published
      ? "A live post can be taken down from here."
      : `A live post is taken down on ${title} alone.`,
    ...(needsPublicMediaUrl
      ? [`${title} fetches files by itself, from an address that the internet reaches.`]
      : []),
  ];
}

const MINUTES = [
  { minutes: 1_440, one: "day", many: "days" },
  { minutes: 60, one: "hour", many: "hours" },
  { minutes: 1, one: "minute", many: "minutes" },
] as const;

export function quotaInWords({ max, perMinutes, from, scope }: Quota): string {
  const unit = MINUTES.find(({ minutes }) => perMinutes % minutes === 0) ?? MINUTES[2];
  const count = perMinutes / unit.minutes;
  const span = count === 1 ? `a${unit.one === "hour" ? "n" : ""} ${unit.one}` : `in ${count} ${unit.many}`;
  const start = from === "rolling" ? "" : `, from midnight in ${from}`;
  return `At most ${numberOf(max)} posts ${span}${start}${scope === "app" ? ", for all channels of the app together" : ""}.`;
}

function listOf(words: readonly string[], joint: "and" | "or"): string {
  return new Intl.ListFormat("en-GB", { type: joint === "and" ? "conjunction" : "disjunction" }).format(
    words,
  );
}

function numberOf(value: number): string {
  return value.toLocaleString("en-GB");
}
