import type { ToolView } from "../kinds.ts";
import { readCalendarHtml } from "./calendar-html.ts";

const CALENDAR_URI = "ui://posthorn/calendar.html";
const APP_MIME_TYPE = "text/html;profile=mcp-app";

/** Hosts that show MCP Apps draw the calendar instead of its text. */
export const TOOL_VIEWS: readonly ToolView[] = [
  { tool: "show_calendar", meta: { ui: { resourceUri: CALENDAR_URI } } },
];

/** The page loads nothing from anywhere and needs no permission. */
const CALENDAR_META = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
};

/** The calendar as resources/list shows it. */
export const CALENDAR_RESOURCE = {
  uri: CALENDAR_URI,
  name: "calendar",
  title: "Calendar of posts",
  description:
    "The view of show_calendar for hosts that show MCP Apps: month and week, moving posts, sending failed ones again.",
  mimeType: APP_MIME_TYPE,
  _meta: CALENDAR_META,
};

interface CalendarContents {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
  readonly _meta: typeof CALENDAR_META;
}

let html: Promise<string> | null = null;

/** The calendar as resources/read answers it. */
export async function readCalendar(): Promise<CalendarContents> {
  html ??= readCalendarHtml();
  return { uri: CALENDAR_URI, mimeType: APP_MIME_TYPE, text: await html, _meta: CALENDAR_META };
}
