import * as z from "zod";
import { Said } from "../sentences.ts";
import { optionalName } from "../optional.ts";

/** A table of posts, and what shall be done with it. */
export const ImportArgs = z.strictObject({
  csv: z
    .string()
    .max(16 * 1024 * 1024)
    .optional()
    .describe("The table. Its first row names the columns."),
  fileId: optionalName(100).describe("Or the table as a file (upload_file)."),
  dryRun: z.boolean().default(true).describe("Only check. False: make the posts."),
  timezone: optionalName(100).describe("IANA zone of times without an offset."),
  as: z.enum(["posts", "drafts"]).default("posts").describe("drafts: they wait for a person."),
  accountId: optionalName(200).describe("Channel of rows that name none."),
});
export type ImportArgs = z.infer<typeof ImportArgs>;

/** A good row of it. */
const ImportedRow = z.strictObject({
  line: z.int().describe("Of the file, where the row begins."),
  id: z.string().nullable().describe("The post. Null: not made yet."),
  isNew: z.boolean().describe("False: it was imported before, or the same post waits already."),
  accountId: z.string(),
  scheduledAt: z.iso.datetime().nullable(),
  caption: z.string().nullable(),
  mediaUrl: z.string(),
});
export type ImportedRow = z.infer<typeof ImportedRow>;

/** A bad row, and what to do. */
const RowError = z.strictObject({
  line: z.int().describe("Of the file, where the row begins."),
  column: z.string().nullable().describe("As the head calls it."),
  error: Said,
});
export type RowError = z.input<typeof RowError>;

/** What is to be looked at, said once for all rows that it is about. */
const RowWarning = z.strictObject({
  line: z.int().nullable().describe("The first of those rows. Null: the table."),
  rows: z.int(),
  warning: Said,
});
export type RowWarning = z.input<typeof RowWarning>;

/** How many rows an answer shows. */
export const MAX_SHOWN_ROWS = 100;

export const ImportAnswer = z.strictObject({
  dryRun: z.boolean().describe("Nothing was made."),
  imported: z.int().describe("How many posts were made."),
  counts: z
    .strictObject({
      rows: z.int(),
      new: z.int().describe("Good, and not there yet."),
      existing: z.int().describe("Imported before, waiting already, or a second time in the table."),
      bad: z.int(),
    })
    .describe("All rows."),
  source: z.string().nullable().describe("The service that it comes from."),
  rows: z.array(ImportedRow).describe(`The first ${MAX_SHOWN_ROWS} good rows.`),
  errors: z.array(RowError).describe("Every bad row."),
  warnings: z.array(RowWarning).describe("What to look at."),
});
export type ImportAnswer = z.infer<typeof ImportAnswer>;
/** Before a face words it. */
export type SaidImportAnswer = z.input<typeof ImportAnswer>;
