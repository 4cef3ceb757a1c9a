import type { ToolView } from "../tool-view.ts";
import { CALENDAR_TOOL_META } from "./calendar-resource.ts";

/** Hosts that show MCP Apps draw the calendar instead of its text. */
export const TOOL_VIEWS: readonly ToolView[] = [{ tool: "show_calendar", meta: CALENDAR_TOOL_META }];
