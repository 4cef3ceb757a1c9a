import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { APPS } from "../../../src/mcp/resources/app-html.ts";
import { APP_PAGES, readAppPage } from "../../../src/mcp/resources/app-pages.ts";
import { startHostSide, type HostSide } from "../../apps/shared/app-host.ts";

const MAX_BYTES = 100 * 1024;

/** What Preact brings: the namespaces of SVG and MathML, and a way in for HTML that no source of ours takes. */
const OF_PREACT = /http:\/\/www\.w3\.org\/[\w/]+|dangerouslySetInnerHTML|\.innerHTML\b/g;

describe.each(APPS)("the page %s", (app) => {
  it("is one small page of MCP Apps that names nothing outside itself", async () => {
    const { uri, mimeType, text, _meta } = await readAppPage(app);
    expect({ uri, mimeType }).toEqual({
      uri: `ui://posthorn/${app}.html`,
      mimeType: "text/html;profile=mcp-app",
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(text).toMatch(/^<!doctype html>/);
    expect(text.replaceAll(OF_PREACT, "")).not.toMatch(
      /https?:\/\/\w|\bsrc=|\bhref=|@import|url\(|\binnerHTML\b|\beval\(/,
    );
    expect(Object.values(_meta.ui.csp).flat()).toEqual([]);
  });
});

it("puts no HTML anywhere that came as a text", () => {
  const sources = readdirSync("apps", { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  expect(sources.length).toBeGreaterThan(100);
  const found = sources.filter((name) =>
    /innerHTML|outerHTML|insertAdjacentHTML/i.test(readFileSync(join("apps", name), "utf8")),
  );
  expect(found).toEqual([]);
});

describe("tools with pages", () => {
  let host: HostSide;
  beforeAll(async () => {
    host = await startHostSide("UTC");
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it("are listed with them, and the decision about a draft for pages alone", async () => {
    const { tools } = await host.client.listTools();
    const told = tools.filter(({ _meta }) => _meta !== undefined).map(({ name, _meta }) => [name, _meta]);
    expect(Object.fromEntries(told)).toEqual({
      show_calendar: { ui: { resourceUri: "ui://posthorn/calendar.html" } },
      list_drafts: { ui: { resourceUri: "ui://posthorn/review.html" } },
      decide_draft: { ui: { visibility: ["app"] } },
    });
  });

  it("have them among the resources, each of which can be read", async () => {
    const { resources } = await host.client.listResources();
    for (const { uri, title } of APP_PAGES) {
      expect(resources).toContainEqual(expect.objectContaining({ uri, title }));
      const { contents } = await host.client.readResource({ uri });
      expect(contents).toEqual([expect.objectContaining({ uri, text: expect.stringContaining("<main") })]);
    }
  });
});
