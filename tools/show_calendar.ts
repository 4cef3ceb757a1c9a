import { z } from "zod";
import { Post } from "../src/domain/posts/post.ts";
import { showCalendar } from "../src/services/posts/calendar.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

const output = z.strictObject({
  posts: z.array(Post).describe("Earliest first."),
  from: z.iso.datetime().describe("Start of the window."),
  to: z.iso.datetime().describe("End of the window, included."),
  timezone: z.string().describe("Zone in which dates were read and days should be shown."),
});

export default defineTool({
  name: "show_calendar",
  title: "Show the calendar",
  description:
    "The posts of a time window, earliest first, in every state. Use it to see a week or a month at a glance, or to find free days; " +
    "to search or to filter by status use list_posts. Without from and to it is the current month; one alone makes a month. " +
    'Account ids come from list_accounts. Example: {"from":"2026-11-23","to":"2026-11-29"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: z.strictObject({
    from: z.string().optional().describe("Scheduled at or after: ISO 8601 time, or a date (its start)."),
    to: z.string().optional().describe("Scheduled at or before: ISO 8601 time, or a date (its end)."),
    accountId: z.array(z.string()).min(1).max(500).optional().describe("Only posts on these accounts."),
  }),
  output,
  handle: (args, call) => showCalendar(call, args),
});
