import * as z from "zod";
import { Capabilities } from "../accounts/account.ts";
import { FILE_TYPES } from "../files/file.ts";

const Count = z.strictObject({
  length: z.int().min(0).describe("As the platform counts."),
  max: z.int().nullable().describe("Null: no limit is known."),
  unit: Capabilities.shape.caption.shape.unit,
});

const PreviewMedia = z.strictObject({
  url: z.string(),
  type: z.enum(FILE_TYPES).nullable().describe("Null: not known yet."),
  change: z.string().nullable().describe("What is done to it on the way."),
});

/** What a platform will show of a post. Nothing of it is asked there. */
export const Preview = z
  .strictObject({
    text: z.string().nullable().describe("The post's text, with its title where that stands in front."),
    parts: z
      .array(z.strictObject({ text: z.string(), count: Count, media: z.array(PreviewMedia) }))
      .describe("What follows it, in order: the rest of the thread, the first comment."),
    count: Count.describe("Of what the limit is for."),
    media: z.array(PreviewMedia),
    link: z.string().nullable().describe("Where its card or button leads to."),
    note: z.string().nullable().describe("What else to know of it."),
  })
  .meta({ id: "Preview" });
export type Preview = z.infer<typeof Preview>;
