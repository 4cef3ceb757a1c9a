import { DraftCalendar } from "../src/domain/drafts/calendar.ts";
import { CalendarArgs } from "../src/domain/posts/post-lists.ts";
import { showDraftCalendar } from "../src/posts/drafts/show-calendar.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "show_calendar",
  title: "Show the calendar",
  description:
    "Posts, drafts, series and free slots of a time window, with limit what is next; then get_post. Default: this month. " +
    'Example: {"status":["scheduled"],"limit":1}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: CalendarArgs,
  output: DraftCalendar,
  handle: (args, call) => showDraftCalendar(call, args),
});
