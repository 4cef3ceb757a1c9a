import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { curlOf } from "../../../src/http/openapi/curl.ts";
import type { Answer } from "../../support/http.ts";
import { startService, type Service } from "../../support/service.ts";

let service: Service;
let page: Answer;
let document: any;

beforeAll(async () => {
  service = await startService();
  page = await service.ask("GET /api/v1/docs", { key: null });
  document = (await service.ask("GET /api/v1/openapi.json", { key: null })).json;
});

afterAll(() => service[Symbol.asyncDispose]());

describe("/docs", () => {
  it("shows every operation and every record, without a key and without a script", () => {
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    for (const item of Object.values<any>(document.paths)) {
      for (const operation of Object.values<any>(item))
        expect(page.text).toContain(`id="${operation.operationId}"`);
    }
    for (const name of Object.keys(document.components.schemas))
      expect(page.text).toContain(`id="schema-${name}"`);
  });

  it("links only to what is on the page or beside it", () => {
    const ids = new Set([...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, href] of page.text.matchAll(/href="([^"]+)"/g)) {
      if (href!.startsWith("#")) expect(ids).toContain(href!.slice(1));
      else expect(href).toMatch(/^(?:data:|\/api\/v1\/openapi\.json$)/);
    }
    expect(page.text).not.toMatch(/ (?:src|srcset|action)=/);
    expect(page.text).not.toMatch(/@import|url\(/);
  });

  it("lets the browser run its one script and nothing else", () => {
    const policy = page.headers["content-security-policy"] ?? "";
    const scripts = [...page.text.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text]) =>
      createHash("sha256").update(text!).digest("base64"),
    );
    expect(scripts).toHaveLength(1);
    expect(policy).toContain(`script-src 'sha256-${scripts[0]}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(page.text).not.toMatch(/ on\w+=| style=/);
  });
});

describe("curlOf", () => {
  it("survives a shell, whatever the example holds", () => {
    const json = { text: `it's "5 $HOME" \`id\` \\ 100%`, more: ["!", "\n"] };
    const command = curlOf({
      baseUrl: "http://localhost:4747",
      method: "post",
      path: "/api/v1/posts/{id}",
      isOpen: false,
      json,
    });
    const shown = execFileSync(
      "sh",
      ["-c", `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }; ${command}`],
      {
        env: { ...process.env, POSTHORN_API_KEY: "the key" },
        encoding: "utf8",
      },
    );
    expect(shown.split("\0").slice(0, -1)).toEqual([
      "-X",
      "POST",
      "http://localhost:4747/api/v1/posts/<id>",
      "-H",
      "Authorization: Bearer the key",
      "-H",
      "Content-Type: application/json",
      "-d",
      JSON.stringify(json),
    ]);
  });
});
