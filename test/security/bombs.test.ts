import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { createGzip, deflateRawSync, gzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { pdfOf } from "../support/pdf.ts";
import type { Answer, Ask } from "../support/http.ts";
import type { Service } from "../support/service.ts";
import { startServiceWithMcp } from "./service-with-mcp.ts";

const MiB = 1024 * 1024;
const JSON_TYPE = { "Content-Type": "application/json" };

let service: Service;
let bomb: Buffer;
let form: string;

beforeAll(async () => {
  service = await startServiceWithMcp();
  form = new URL((await service.call("connect_channel", { provider: "webhook" })).url).pathname;
  // 200 MiB of spaces, in 200 kB.
  const spaces = Readable.from(
    (function* () {
      for (let written = 0; written < 200; written++) yield Buffer.alloc(MiB, 0x20);
    })(),
  );
  bomb = await buffer(spaces.pipe(createGzip({ level: 9 })));
});

afterAll(() => service[Symbol.asyncDispose]());

/**
 * Asks, and holds what the process grew by to the limit, with room for the test's own
 * share.
 */
async function ask(target: string, options: Ask): Promise<Answer> {
  const before = process.memoryUsage().rss;
  const answer = await service.ask(target, options);
  expect(process.memoryUsage().rss - before).toBeLessThan(120 * MiB);
  return answer;
}

const TAKERS = [
  "POST /api/v1/posts",
  "POST /api/v1/tools/list_posts",
  "POST /api/v1/webhooks",
  "PATCH /api/v1/posts/post_x",
  "POST /api/v1/files",
];

describe("a body that is more than it seems", () => {
  it.each(TAKERS)("is not unpacked beyond the limit by %s", async (target) => {
    expect(bomb.length).toBeLessThan(300_000);
    for (const encoding of ["gzip", "x-gzip", "gzip, gzip", "deflate, gzip"]) {
      const { status } = await ask(target, {
        headers: { ...JSON_TYPE, "Content-Encoding": encoding },
        body: bomb,
      });
      expect([encoding, [400, 413].includes(status)]).toEqual([encoding, true]);
    }
    expect(
      (await ask(target, { headers: { ...JSON_TYPE, "Content-Encoding": "gzip" }, body: bomb })).status,
    ).toBe(413);
  });

  it("is not unpacked by MCP at all", async () => {
    const answer = await ask("POST /mcp", {
      headers: { ...JSON_TYPE, "Content-Encoding": "gzip" },
      body: bomb,
    });
    expect(answer.status).toBe(400);
  });

  it("is not unpacked beyond its limit by a form", async () => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip" };
    expect((await ask(`POST ${form}`, { key: null, headers, body: bomb })).status).toBe(413);
    const many = Array.from({ length: 5_000 }, (_, at) => `f${at}=1`).join("&");
    const plain = { "Content-Type": "application/x-www-form-urlencoded" };
    expect([400, 413]).toContain(
      (await ask(`POST ${form}`, { key: null, headers: plain, body: many })).status,
    );
    const files = { "Content-Type": "multipart/form-data; boundary=x" };
    const parts = Array.from(
      { length: 1_000 },
      (_, at) => `--x\r\nContent-Disposition: form-data; name="f${at}"\r\n\r\n1\r\n`,
    ).join("");
    expect((await ask(`POST ${form}`, { key: null, headers: files, body: `${parts}--x--` })).status).toBe(
      400,
    );
  });
});

const DEPTH = 200_000;
const DEEP = [`${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`, `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`];

describe("a body that is nested without end", () => {
  it.each(TAKERS)("is refused by %s", async (target) => {
    for (const deep of DEEP) {
      for (const body of [deep, `{"metadata":${deep},"url":${deep}}`]) {
        const { status } = await ask(target, { headers: JSON_TYPE, body });
        // Of six characters a level it is longer than a body may be.
        expect([400, 413]).toContain(status);
      }
    }
  });

  it("is refused by MCP, wherever it stands", async () => {
    const headers = { ...JSON_TYPE, Accept: "application/json, text/event-stream" };
    for (const deep of DEEP) {
      const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
      const bodies = [
        deep,
        call(deep),
        call(`{"name":"list_posts","arguments":${deep}}`),
        call(`{"name":"list_posts","_meta":${deep}}`),
      ];
      for (const body of bodies) {
        const { status, text } = await ask("POST /mcp", { headers, body });
        expect(status).toBe(400);
        expect(text.length).toBeLessThan(2_000);
        expect(text).not.toMatch(/call stack|RangeError/);
      }
    }
    expect((await service.ask("GET /api/v1/posts")).status).toBe(200);
  });
});

describe("over standard streams", () => {
  it("a message nested without end does no harm to the next one", async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const transport = new StdioServerTransport(stdin, stdout);
    const read: unknown[] = [];
    transport.onmessage = (message) => void read.push(message);
    await transport.start();
    for (const deep of DEEP)
      stdin.write(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":${deep}}}\n`);
    stdin.write('{"jsonrpc":"2.0","id":8,"method":"ping"}\n');
    while (read.length < 3) await new Promise((resolve) => setImmediate(resolve));
    expect(read.at(-1)).toMatchObject({ id: 8, method: "ping" });
    await transport.close();
  });
});

/** A zip with one member that claims to be 4 GiB. */
function zipBomb(): Buffer {
  const data = deflateRawSync(Buffer.alloc(10 * MiB));
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(8, 8);
  header.writeUInt32LE(data.length, 18);
  header.writeUInt32LE(0xffffffff, 22);
  header.writeUInt16LE(1, 26);
  return Buffer.concat([header, Buffer.from("a"), data]);
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const LAUGHS = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">${"bcdefghij"
  .split("")
  .map((name, at) => `<!ENTITY ${name} "${`&${"abcdefghij"[at]};`.repeat(10)}">`)
  .join("")}]><svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text></svg>`;

const NO_MEDIA: readonly (readonly [string, string | Buffer])[] = [
  ["SVG", SVG],
  ["SVG behind a declaration", `<?xml version="1.0"?>\n<!-- x -->\n${SVG}`],
  ["SVG, packed", gzipSync(SVG)],
  ["SVG with a billion laughs", LAUGHS],
  ["SVG that includes a file", SVG.replace("<script>", '<image href="file:///etc/passwd"/><script>')],
  ["SVG in UTF-16", Buffer.from(`\ufeff${SVG}`, "utf16le")],
  ["HTML", "<!doctype html><script>alert(1)</script>"],
  ["HTML after white space", `\n\n   <html><body onload=alert(1)>`],
  ["JavaScript", "alert(document.cookie)"],
  ["a page of MHTML", "MIME-Version: 1.0\nContent-Type: multipart/related\n\n<html>"],
  ["PDF", "%PDF-1.7\n1 0 obj\n<</OpenAction<</JS(app.alert(1))>>>>"],
  ["PDF with a password", pdfOf({ trailer: "/Encrypt 9 0 R" })],
  ["PDF that lies too deep", pdfOf({ objects: ["[".repeat(MiB)] })],
  ["a zip bomb", zipBomb()],
  ["a gzip bomb", gzipSync(Buffer.alloc(10 * MiB))],
  ["a program", Buffer.from("\u007fELF\u0002\u0001\u0001", "latin1")],
  ["XML", "<?xml version='1.0'?><a/>"],
  ["a playlist that names a file", "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"],
  ["a concatenation that names a file", "ffconcat version 1.0\nfile /etc/passwd\n"],
  ["text", "hello"],
  ["nothing", ""],
];

describe("an upload that is no picture, film, sound or document", () => {
  it.each(NO_MEDIA)("is refused, whatever it calls itself: %s", async (_name, body) => {
    for (const type of ["image/png", "image/svg+xml", "video/mp4", "application/octet-stream"]) {
      const answer = await ask("POST /api/v1/files?name=photo.png", {
        headers: { "Content-Type": type },
        body,
      });
      expect([type, answer.status]).toEqual([type, 400]);
    }
    for (const type of [
      "text/html",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "application/zip",
      "application/pdf",
    ]) {
      expect((await ask("POST /api/v1/files", { headers: { "Content-Type": type }, body })).status).toBe(400);
    }
    expect((await service.ask("GET /api/v1/files")).json.files).toEqual([]);
  });

  it("is not shown as a page where it hides behind a picture", async () => {
    const photo = readFileSync(new URL("../fixtures/photo.png", import.meta.url));
    const body = Buffer.concat([photo, Buffer.from("<html><script>alert(1)</script>")]);
    const { json } = await ask("POST /api/v1/files?name=page.html", {
      headers: { "Content-Type": "image/png" },
      body,
    });
    expect(json.file).toMatchObject({ mimeType: "image/png", name: expect.stringMatching(/\.png$/) });
    const { pathname, search } = new URL(json.file.downloadUrl);
    const { headers } = await service.ask(`GET ${pathname}${search}`, { key: null });
    expect(headers).toMatchObject({ "content-type": "image/png", "x-content-type-options": "nosniff" });
    expect(headers["content-disposition"]).toMatch(/^attachment/);
    expect(headers["content-security-policy"]).toContain("sandbox");
    await service.ask(`DELETE /api/v1/files/${json.file.id}`);
  });
});

describe("a document", () => {
  it("is given for download alone, and nothing of it runs", async () => {
    const { json } = await ask("POST /api/v1/files?name=report.html", {
      headers: { "Content-Type": "application/pdf" },
      body: pdfOf({ pages: 3 }),
    });
    expect(json.file).toMatchObject({ type: "document", pages: 3, name: "report.html.pdf" });
    const { pathname, search } = new URL(json.file.downloadUrl);
    const { headers } = await service.ask(`GET ${pathname}${search}`, { key: null });
    expect(headers).toMatchObject({ "content-type": "application/pdf", "x-content-type-options": "nosniff" });
    expect(headers["content-disposition"]).toMatch(/^attachment/);
    expect(headers["content-security-policy"]).toContain("sandbox");
    await service.ask(`DELETE /api/v1/files/${json.file.id}`);
  });
});

describe("headers without measure", () => {
  const exchange = async (head: string): Promise<string> => {
    const socket = connect(service.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.on("error", () => {});
    socket.write(head);
    await new Promise((resolve) => socket.once("close", resolve));
    return text;
  };

  it.each([
    ["one of a megabyte", `X-A: ${"a".repeat(MiB)}\r\n`],
    ["ten thousand", Array.from({ length: 10_000 }, (_, at) => `X-${at}: a\r\n`).join("")],
    ["an endless line", `X-${"a".repeat(100_000)}`],
    ["cookies", `Cookie: ${"a=b; ".repeat(10_000)}\r\n`],
  ])("are refused: %s", async (_name, header) => {
    expect(await exchange(`GET /api/v1/posts HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    );
  });

  it("are refused in the address, too", async () => {
    expect(await exchange(`GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431 /,
    );
  });

  it("do no harm where they are only strange", async () => {
    for (const headers of [
      { Range: `bytes=${"0-0,".repeat(2_000)}0-1` },
      { "Accept-Language": "en;q=0.1,".repeat(1_000) },
      { "X-Request-Id": "a b\tc;<script>" },
      { "X-Forwarded-For": "1.2.3.4", "X-Forwarded-Host": "attacker.example", Forwarded: "for=1.2.3.4" },
      { "X-HTTP-Method-Override": "DELETE" },
      { "If-None-Match": '"a",'.repeat(2_000) },
    ]) {
      const answer = await service.ask("GET /api/v1/posts", { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
    }
  });
});
