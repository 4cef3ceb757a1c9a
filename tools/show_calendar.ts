import { Calendar, CalendarArgs } from "../src/domain/posts/post-lists.ts";
import { showCalendar } from "../src/services/posts/calendar.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "show_calendar",
  title: "Show the calendar",
  description:
    "The posts of a time window, earliest first, in every state. Use it to see a week or a month at a glance, or to find free days; " +
    "to search or to filter by status use list_posts. Without from and to it is the current month; one alone makes a month. " +
    'Example: {"from":"2026-11-23","to":"2026-11-29"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: CalendarArgs,
  output: Calendar,
  handle: (args, call) => showCalendar(call, args),
});
