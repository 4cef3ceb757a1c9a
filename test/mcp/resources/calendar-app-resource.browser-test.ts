import { expect, it } from "vitest";
import { readCalendar } from "../../../src/mcp/resources/resources.ts";
import { launchBrowser } from "../../support/browser.ts";
import { showCalendar, startHostSide } from "../../apps/calendar/calendar-app-host.ts";

it("the calendar is shown under a policy that would stop and report what it loads", async () => {
  const browser = await launchBrowser();
  await using host = await startHostSide("UTC");
  const { text } = await readCalendar();
  const html = text.replace(
    "<main",
    () => '<img src="http://127.0.0.1:9/x.png"><script>fetch("http://127.0.0.1:9/")</script><main',
  );
  await using shown = await showCalendar(browser, host, { html });
  await shown.view.getByRole("grid").waitFor();
  await expect.poll(() => shown.faults.join("\n")).toMatch(/img-src/);
  await expect.poll(() => shown.faults.join("\n")).toMatch(/connect-src/);
  await browser.close();
});
