import type { ResourceKind, ToolView } from "../kinds.ts";
import { type App, readAppHtml } from "./app-html.ts";

/** The pages load nothing from anywhere and need no permission. */
const META = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
};

/** By tool: what a host that shows MCP Apps draws instead of the tool's text. */
const PAGES = {
  show_calendar: {
    app: "calendar",
    title: "Calendar of posts",
    description:
      "The view of show_calendar for hosts that show MCP Apps: month and week, moving posts, sending failed ones again.",
  },
  list_drafts: {
    app: "review",
    title: "Review of drafts",
    description:
      "The view of list_drafts for hosts that show MCP Apps: what goes where and when, as each channel will show it, and a person's decision.",
  },
} as const satisfies Record<string, { app: App; title: string; description: string }>;

const uriOf = (app: App): string => `ui://posthorn/${app}.html`;

/** Hosts that know MCP Apps keep from the model what is for their pages alone. Others offer it as any tool. */
const APP_ONLY: ToolView = { tool: "decide_draft", meta: { ui: { visibility: ["app"] } } };

export const TOOL_VIEWS: readonly ToolView[] = [
  ...Object.entries(PAGES).map(([tool, { app }]) => ({ tool, meta: { ui: { resourceUri: uriOf(app) } } })),
  APP_ONLY,
];

const read = new Map<App, Promise<string>>();

export async function readAppPage(app: App) {
  const html = read.get(app) ?? readAppHtml(app);
  read.set(app, html);
  return { uri: uriOf(app), mimeType: "text/html;profile=mcp-app", text: await html, _meta: META };
}

export const APP_PAGES: readonly ResourceKind[] = Object.entries(PAGES).map(([tool, { app, ...told }]) => {
  const page = { uri: uriOf(app), name: app, ...told, mimeType: "text/html;profile=mcp-app", _meta: META };
  return { ...page, tool, list: async () => [page], read: () => readAppPage(app) };
});
