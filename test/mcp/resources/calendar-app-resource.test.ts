import { describe, expect, it } from "vitest";
import { readCalendar } from "../../../src/mcp/resources/calendar-resource.ts";
import { launchBrowser } from "../../support/browser.ts";
import { showCalendar, startHostSide } from "../../apps/calendar/calendar-app-host.ts";

const MAX_BYTES = 100 * 1024;

describe("the calendar's resource", () => {
  it("is one small page of MCP Apps that names nothing outside itself", async () => {
    const { uri, mimeType, text, _meta } = await readCalendar();
    expect({ uri, mimeType }).toEqual({
      uri: "ui://posthorn/calendar.html",
      mimeType: "text/html;profile=mcp-app",
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).not.toMatch(/https?:\/\/\w|\bsrc=|\bhref=|@import|url\(|\binnerHTML\b|\beval\(/);
    expect(Object.values(_meta.ui.csp).flat()).toEqual([]);
  });

  it("is shown under a policy that would stop and report what it loads", async () => {
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
});
