import * as z from "zod";
import { Calendar } from "../posts/post-lists.ts";
import { Draft } from "./draft.ts";

/** The posts of a time window, with the drafts whose time lies in it. */
export const DraftCalendar = Calendar.extend({
  drafts: z.array(Draft).describe("Open and waiting ones."),
});
export type DraftCalendar = z.infer<typeof DraftCalendar>;
export type SaidDraftCalendar = z.input<typeof DraftCalendar>;
