import * as z from "zod";

/**
 * What an address of media is for, told by its schema's `.meta({ media })`: an item of the post itself, one
 * of a post of its thread, a picture in front of it, or a file of subtitles. Such a text is looked up, checked and
 * kept like `mediaUrl`.
 */
export const MediaRole = z.enum(["item", "thread", "thumbnail", "subtitles"]);

const Address = z.string().min(1).max(4_096);

const LanguageTag = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "must be a language tag such as en or pt-BR");

interface PollLimits {
  readonly maxOptions: number;
  /** In characters. */
  readonly maxOptionLength: number;
  readonly minHours: number;
  readonly maxHours: number;
  /** Whether one person may choose several. */
  readonly takesMultiple: boolean;
}

/** The field `poll` with a platform's limits: the question is the caption. */
export function pollWithin(limits: PollLimits): z.ZodOptional<z.ZodType<Poll>> {
  const options = z
    .array(z.string().trim().min(1).max(limits.maxOptionLength))
    .min(2)
    .max(limits.maxOptions)
    .refine((all) => new Set(all).size === all.length, "must differ from each other")
    .describe("The answers.");
  const hours = z.number().min(limits.minHours).max(limits.maxHours).describe("How long it is open.");
  const multiple = z.boolean().optional().describe("Several answers may be chosen.");
  const single = z.strictObject({ options, hours });
  const poll: z.ZodType<Poll> = limits.takesMultiple ? single.extend({ multiple }) : single;
  return poll.optional().describe("A poll. The caption asks.");
}

export interface Poll {
  readonly options: readonly string[];
  readonly hours: number;
  readonly multiple?: boolean | undefined;
}

export interface Subtitles {
  readonly url: string;
  readonly language: string;
  readonly name?: string | undefined;
}

/** What is said where `moreMedia` has too many: `most` counts the first, too. */
export function fits(most: number): string {
  return `at most ${most} pictures and videos fit into one post`;
}

/** Fields of `metadata` that mean the same on every platform. Its schema picks some and adds its limits. */
export const commonMetadata = {
  title: z.string().min(1).max(300).optional().describe("Title."),
  description: z.string().max(10_000).optional().describe("Longer text beside the caption."),
  tags: z.array(z.string().min(1).max(100)).max(30).optional().describe("Tags, without #."),
  altText: z.string().max(2_000).optional().describe("What the media shows."),
  moreMedia: z
    .array(
      z.strictObject({
        url: Address.meta({ media: "item" }).describe("As mediaUrl."),
        altText: z.string().max(2_000).optional().describe("What it shows."),
      }),
    )
    .max(20)
    .optional()
    .describe("Further media."),
  link: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional()
    .describe("What it is about."),
  language: LanguageTag.optional().describe("BCP 47 tag."),
  visibility: z.enum(["public", "unlisted", "private"]).optional().describe("Who can see it."),
  sensitive: z.boolean().optional().describe("Shows media only after a click."),
  spoilerText: z.string().max(500).optional().describe("A warning in place of the text."),
  thread: z
    .array(
      z.strictObject({
        caption: z.string().min(1).max(10_000).describe("Its text."),
        mediaUrl: Address.meta({ media: "thread" }).optional().describe("Its media."),
        altText: z.string().max(2_000).optional().describe("What its media shows."),
      }),
    )
    .max(25)
    .optional()
    .describe("Follow-up posts, in order."),
  firstComment: z.string().max(10_000).optional().describe("A comment put under it."),
  subtitles: z
    .array(
      z.strictObject({
        url: Address.meta({ media: "subtitles" }).describe("A WebVTT or SRT file, as mediaUrl."),
        language: LanguageTag.describe("BCP 47 tag of their language."),
        name: z.string().trim().min(1).max(100).optional().describe("What viewers choose them by."),
      }),
    )
    .max(20)
    .refine(
      (all) => new Set(all.map(({ language }) => language.toLowerCase())).size === all.length,
      "must have a language of their own each",
    )
    .optional()
    .describe("Subtitles of the video."),
  poll: pollWithin({
    maxOptions: 12,
    maxOptionLength: 200,
    minHours: 0.1,
    maxHours: 8_760,
    takesMultiple: true,
  }),
  format: z.enum(["plain", "markdown"]).optional().describe("How the caption is read. Default: plain."),
  thumbnailUrl: Address.meta({ media: "thumbnail" })
    .optional()
    .describe("Picture shown before the media plays: an https address, an r2:// address, or a file id."),
} as const;

const { thumbnailUrl: _thumbnailUrl, subtitles: _subtitles, ...listed } = commonMetadata;

/**
 * The same as JSON Schema, for lists of tools. `thumbnailUrl` has a short form beside it, and a list of tools has
 * no room for what few platforms take.
 */
export const COMMON_METADATA_SCHEMA = z.toJSONSchema(z.object(listed), {
  io: "input",
  override: ({ jsonSchema }) => {
    delete jsonSchema["media"];
  },
}).properties;
