import { expect, it } from "vitest";
import { APPS } from "../../../src/mcp/resources/app-html.ts";
import { readAppPage } from "../../../src/mcp/resources/app-pages.ts";
import { showApp, startHostSide } from "../../apps/shared/app-host.ts";

const TOOLS = { calendar: "show_calendar", review: "list_drafts" } as const;

it.each(APPS)("the %s is shown under a policy that would stop and report what it loads", async (app) => {
  await using host = await startHostSide("UTC");
  const { text } = await readAppPage(app);
  const html = text.replace(
    "<main",
    () => '<img src="http://127.0.0.1:9/x.png"><script>fetch("http://127.0.0.1:9/")</script><main',
  );
  await using shown = await showApp(host, { tool: TOOLS[app], html });
  await expect.poll(() => shown.faults.join("\n")).toMatch(/img-src/);
  await expect.poll(() => shown.faults.join("\n")).toMatch(/connect-src/);
});
