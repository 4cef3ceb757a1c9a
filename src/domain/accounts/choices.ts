import * as z from "zod";

/** Whose values of a metadata field are asked for. */
export const ChoicesArgs = z.strictObject({
  accountId: z.string().min(1).max(320).describe("The channel: its id, name, handle or platform."),
  field: z.string().min(1).max(100).describe("Key of the metadata, for example boardId."),
  search: z.string().max(200).optional().describe("Only those with this in their name. Default: all."),
});
export type ChoicesArgs = z.infer<typeof ChoicesArgs>;

const Choice = z.strictObject({
  value: z.string().describe("What goes into the metadata."),
  label: z.string().describe("What a person knows it by."),
});

export const Choices = z.strictObject({
  choices: z.array(Choice).describe("100 at most, the best first."),
});
export type Choices = z.infer<typeof Choices>;
