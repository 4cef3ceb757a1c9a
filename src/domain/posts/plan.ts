import * as z from "zod";

/** What a plan says of a post beside its content. Found by search, and never sent to a platform. */
export const planFields = {
  labels: z
    .array(z.string().trim().min(1).max(50))
    .max(20)
    .optional()
    .describe("To find it by. Never published."),
  note: z.string().max(5_000).optional().describe("Never published."),
};

export interface PlanFields {
  readonly labels?: readonly string[] | undefined;
  readonly note?: string | undefined;
}

/** Each once, in the order given. */
export function eachOnce(labels: readonly string[]): string[] {
  return [...new Set(labels)];
}
