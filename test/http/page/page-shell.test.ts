import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPageFiles } from "../../../src/http/page/page-files.ts";
import { send, type Answer } from "../../support/http.ts";
import { NO_BACKUPS, readLittlePage } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

let service: Service;

beforeAll(async () => {
  const page = {
    uploads: { folder: "", takeLock: () => null },
    backups: NO_BACKUPS,
    readFiles: readLittlePage,
  };
  service = await startService({ page });
});

afterAll(() => service[Symbol.asyncDispose]());

function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return send(service.port, `GET ${path}`, { headers });
}

describe("the page", () => {
  it("is at each of its addresses, and is not kept", async () => {
    for (const path of ["/app", "/app/", "/app/plan", "/app/channels/acc_1?x=1", "/app/index.html"]) {
      const answer = await get(path, BROWSER);
      expect([answer.status, answer.headers["content-type"], answer.headers["cache-control"]], path).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-store",
      ]);
      expect(answer.text).toContain("<title>Posthorn</title>");
    }
  });

  it("is there for all but those who want something else, and by no other method", async () => {
    expect((await get("/app")).status).toBe(200);
    expect((await get("/app", { Accept: "application/json" })).status).toBe(404);
    expect((await get("/app/gone-ABC123.js", { Accept: "*/*" })).status).toBe(404);
    const posted = await send(service.port, "POST /app", { headers: BROWSER, json: {} });
    expect([posted.status, posted.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  });

  it("runs and loads only what this server sends, in no frame", async () => {
    for (const path of ["/app", "/app/main-ABC123.js", "/app/api/session"]) {
      const { headers } = await get(path, BROWSER);
      expect(headers["content-security-policy"], path).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; " +
          "connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers).toMatchObject({
        "x-frame-options": "DENY",
        "cross-origin-resource-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
      });
    }
  });

  it("has files that are kept for ever where their names hold what they hold", async () => {
    const script = await get("/app/main-ABC123.js");
    expect(script.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    expect(script.headers["content-encoding"]).toBeUndefined();
    const manifest = await get("/app/manifest.webmanifest");
    expect(manifest.headers).toMatchObject({
      "content-type": expect.stringContaining("application/manifest+json"),
      "cache-control": "no-cache",
    });
  });

  it("comes compressed where that is asked for", async () => {
    const zipped = await new Promise<Buffer>((resolve, reject) => {
      const headers = { "Accept-Encoding": "gzip, br" };
      request({ port: service.port, path: "/app/main-ABC123.js", headers }, (answer) => {
        const parts: Buffer[] = [];
        expect(answer.headers["content-encoding"]).toBe("gzip");
        answer.on("data", (part: Buffer) => parts.push(part)).on("end", () => resolve(Buffer.concat(parts)));
      })
        .on("error", reject)
        .end();
    });
    expect(gunzipSync(zipped).toString()).toContain("word word");
    expect(zipped.length).toBeLessThan(200);
  });

  it("is where a browser is led that asks for nothing", async () => {
    const root = await get("/", BROWSER);
    expect([root.status, root.headers["location"]]).toEqual([302, "/app"]);
    expect((await get("/docs", BROWSER)).headers["location"]).toBe("/api/v1/docs");
  });
});

it("is not there at all where it is off", async () => {
  await using off = await startService({ page: null });
  const unknown = await off.ask("GET /nothing", { key: null, headers: BROWSER });
  for (const target of [
    "GET /app",
    "GET /app/plan",
    "GET /app/api/session",
    "POST /app/api/session",
    "POST /app/api/files",
  ]) {
    const answer = await off.ask(target, { key: null, headers: BROWSER });
    expect([answer.status, answer.text], target).toEqual([404, unknown.text]);
  }
  const root = await off.ask("GET /", { key: null, headers: BROWSER });
  expect(root.headers["location"]).toBe("/api/v1/docs");
});

it("the page is built from its sources, under names that change with them", async () => {
  using folder = temporaryFolder();
  const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
  write(
    "index.html",
    '<link rel="stylesheet" href="/*style*/" /><script type="module" src="/*script*/"></script>',
  );
  write("page.css", "body { margin: 0 }");
  write("later.ts", "export const later = 1;");
  mkdirSync(join(folder.path, "public"));
  write("public/robots.txt", "x");
  const build = async (words: string) => {
    write("main.tsx", `void import("./later.ts"); document.title = "${words}";`);
    return [...(await readPageFiles(folder.path))];
  };
  const [first, second] = [await build("one"), await build("two")];
  const html = first.find(([name]) => name === "index.html")?.[1].bytes.toString() ?? "";
  const named = [...html.matchAll(/\/app\/([\w.-]+)/g)].map(([, name]) => name);
  expect(named).toEqual([
    expect.stringMatching(/^page-\w{8}\.css$/),
    expect.stringMatching(/^main-\w{8}\.js$/),
  ]);
  expect(first.map(([name]) => name)).toEqual(expect.arrayContaining([...named, "robots.txt"]));
  expect(first.filter(([, { isImmutable }]) => !isImmutable).map(([name]) => name)).toEqual([
    "index.html",
    "licences.txt",
    "robots.txt",
  ]);
  const mainOf = (files: typeof first) => files.find(([name]) => name.startsWith("main-"))?.[0];
  expect(mainOf(first)).not.toBe(mainOf(second));
});
