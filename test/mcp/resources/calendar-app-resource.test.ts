import { describe, expect, it } from "vitest";
import { readCalendar } from "../../../src/mcp/resources/resources.ts";

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
});
