import * as z from "zod";
import { Said } from "../src/domain/sentences.ts";
import { DecideDraft, DecidedDraft, Draft } from "../src/domain/drafts/draft.ts";
import { awaitDrafts, decideDrafts, eachOf } from "../src/posts/drafts/decide-draft.ts";
import { describeThatItWaits } from "../src/posts/drafts/draft-events.ts";
import { askToDecide } from "../src/posts/drafts/questions.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "decide_draft",
  title: "Decide about a draft",
  permission: "publish",
  description:
    "A person's decision about a draft (list_drafts). To approve, they are asked first. " +
    'Example: {"id":"dft_1","revision":3,"decision":"approve"}',
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  input: DecideDraft,
  output: z.strictObject({
    draft: Draft.optional().describe("With its posts."),
    results: z.array(DecidedDraft).optional().describe("Of drafts, in order."),
    warnings: z.array(Said).optional().describe("What to look at."),
  }),
  isForPeople: ({ decision }) => decision === "approve",
  describePerson: async (args, call) => {
    for (const one of eachOf(call, args)) await describeThatItWaits(call, one);
  },
  question: (args, call) => askToDecide(call, args),
  handle: (args, call) => decideDrafts(call, args),
  untilOut: awaitDrafts,
});
