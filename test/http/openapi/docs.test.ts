import { afterAll, beforeAll, expect, it } from "vitest";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const get = (path: string) => service.ask(`GET /api/v1/${path}`, { key: null });

it("/docs is a page without a key that may load nothing but its own script and style", async () => {
  const page = await get("docs");
  expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  const policy = page.headers["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; ");
  expect(policy).toContain("connect-src 'self'");
  expect(page.text).not.toMatch(/<script>| on\w+=|https?:\/\/(?!www\.w3\.org)/);
  for (const [, path] of page.text.matchAll(/ (?:src|href)="(docs\/[^"]+)"/g)) {
    const part = await get(path!);
    expect([path, part.status, part.headers["content-type"]]).toEqual([
      path,
      200,
      `text/${path!.endsWith(".css") ? "css" : "javascript"}; charset=utf-8`,
    ]);
    const kept = { "If-None-Match": part.headers["etag"] ?? "" };
    expect((await service.ask(`GET /api/v1/${path}`, { key: null, headers: kept })).status).toBe(304);
  }
});

it("the viewer brings its licence and no map", async () => {
  const { text } = await get("docs/swagger-ui.js");
  expect(text).toContain("Apache License");
  expect(text).not.toContain("sourceMappingURL");
});
