import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { APPS } from "../../../src/mcp/resources/app-html.ts";
import { APP_PAGES, readAppPage } from "../../../src/mcp/resources/app-pages.ts";
import { startHostSide, type HostSide } from "../../apps/shared/app-host.ts";

const APPS_FOLDER = join(import.meta.dirname, "../../../apps");
const MAX_BYTES = 100 * 1024;
/** Names of languages, at which nothing is loaded. */
const NAMESPACES = /http:\/\/www\.w3\.org\/(1998\/Math\/MathML|1999\/xhtml|2000\/svg)/g;

describe.each(APPS)("the page %s", (app) => {
  it("is one small page of MCP Apps that names nothing outside itself", async () => {
    const { uri, mimeType, text, _meta } = await readAppPage(app);
    expect({ uri, mimeType }).toEqual({
      uri: `ui://posthorn/${app}.html`,
      mimeType: "text/html;profile=mcp-app",
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(text).toMatch(/^<!doctype html>/);
    const named = text.replaceAll(NAMESPACES, "");
    expect(named).not.toMatch(/https?:\/\/\w|\bsrc=|\bhref=|@import|url\(|\beval\(/);
    expect(Object.values(_meta.ui.csp).flat()).toEqual([]);
  });
});

it("no page reads a text as HTML", () => {
  const sources = readdirSync(APPS_FOLDER, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => [name, readFileSync(join(APPS_FOLDER, name), "utf8")] as const);
  expect(sources.length).toBeGreaterThan(100);
  const reading = sources.filter(([, text]) => /(inner|outer|adjacent)HTML|srcdoc|DOMParser/i.test(text));
  expect(reading.map(([name]) => name)).toEqual([]);
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
