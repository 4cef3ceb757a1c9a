import * as z from "zod";
import { Calendar } from "../posts/post-lists.ts";
import { Draft } from "./draft.ts";

/** The posts of a time window, with the drafts whose time lies in it. */
export const DraftCalendar = Calendar.extend({
  drafts: z.array(Draft).describe("Open and waiting ones."),
  series: z
    .array(
      z.strictObject({
        draftId: z.string(),
        text: z.string().nullable(),
        accountIds: z.array(z.string()),
        rule: z.string(),
        postsUntil: z.iso.datetime(),
        coming: z.array(z.iso.datetime()),
        texts: z
          .array(z.string())
          .optional()
          .describe("Begins of those that take turns, one for each coming."),
      }),
    )
    .describe("coming: no posts yet."),
});
export type DraftCalendar = z.infer<typeof DraftCalendar>;
export type SaidDraftCalendar = z.input<typeof DraftCalendar>;
