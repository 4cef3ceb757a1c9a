import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { OutboundFailure, type Outbound } from "../../src/ports/outbound.ts";
import { startCanary, type Canary } from "../support/canary.ts";
import { startDnsServer, type DnsServer } from "../support/dns-server.ts";
import { INSIDE, OTHER_PORTS, PUBLIC_AND_SILENT, ZONE } from "./inside.ts";

let dns: DnsServer;
let canary: Canary;
let outbound: Outbound & AsyncDisposable;

beforeAll(async () => {
  [dns, canary] = await Promise.all([startDnsServer(ZONE), startCanary()]);
  outbound = createOutbound({ allowedHosts: [], lookup: dns.lookup });
});

afterAll(async () => {
  await outbound[Symbol.asyncDispose]();
  await canary[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

const kindOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "answered",
    (error: unknown) => (error instanceof AppError ? error.kind : error),
  );

describe("an address that leads inside", () => {
  it.each(INSIDE)("%s is refused, whatever carries it", async (text) => {
    const url = text.replaceAll("PORT", String(canary.port));
    for (const method of ["GET", "HEAD", "POST"] as const) {
      for (const newConnection of [false, true]) {
        const request = { method, url, newConnection, maxRedirects: 3 };
        expect(await kindOf(outbound.request(request))).toBe("invalid");
      }
    }
    expect(canary.connections).toBe(0);
  });
});

describe("a port where no web server is expected", () => {
  it.each(OTHER_PORTS)("is not knocked at: %s", async (url) => {
    expect(await kindOf(outbound.request({ method: "GET", url }))).toBe("invalid");
  });
});

describe("a name that changes its mind", () => {
  it("is asked once, so that what was checked is what is connected to", async () => {
    await using outbound = createOutbound({ allowedHosts: [], lookup: dns.lookup });
    dns.zone.set("turns.test", (asked) => (asked === 1 ? [PUBLIC_AND_SILENT] : ["127.0.0.1"]));
    const request = {
      method: "GET",
      url: `http://turns.test:${canary.port}/`,
      timeoutMs: 300,
      newConnection: true,
    } as const;
    await expect(outbound.request(request)).rejects.toBeInstanceOf(OutboundFailure);
    expect(dns.timesAsked("turns.test")).toBe(1);
    for (let times = 0; times < 3; times++) expect(await kindOf(outbound.request(request))).toBe("invalid");
    expect(canary.connections).toBe(0);
  });

  it("gains nothing with a permitted server's kept connection, nor by a redirect of that server", async () => {
    await using outer = await startCanary((request, response) => {
      if (request.url === "/in") response.writeHead(302, { location: `http://inner.test:${canary.port}/` });
      response.end("outer");
    });
    dns.zone.set("outer.test", ["127.0.0.1"]);
    dns.zone.set("inner.test", ["127.0.0.1"]);
    await using door = createOutbound({
      allowedHosts: [{ host: "outer.test", port: outer.port }],
      lookup: dns.lookup,
    });
    const at = (path: string) =>
      ({ method: "GET", url: `http://outer.test:${outer.port}${path}`, maxRedirects: 3 }) as const;
    (await door.request(at("/"))).body.resume();
    expect(await kindOf(door.request(at("/in")))).toBe("invalid");
    // The same machine under a name that nobody has permitted.
    expect(await kindOf(door.request({ method: "GET", url: `http://inner.test:${outer.port}/` }))).toBe(
      "invalid",
    );
    expect(canary.connections).toBe(0);
  });
});

describe("a redirect", () => {
  it.each(INSIDE.filter((text) => /^https?:\/\/[^/]/.test(text)))("to %s is not followed", async (text) => {
    const location = text.replaceAll("PORT", String(canary.port));
    await using outer = await startCanary((_request, response) => {
      response.statusCode = 307;
      // A header holds ASCII alone; a host may be escaped.
      response.setHeader("location", location.replaceAll(/\P{ASCII}+/gu, encodeURIComponent));
      response.end();
    });
    dns.zone.set("outer.test", ["127.0.0.1"]);
    await using door = createOutbound({
      allowedHosts: [{ host: "outer.test", port: outer.port }],
      lookup: dns.lookup,
    });
    expect(
      await kindOf(door.request({ method: "GET", url: `http://outer.test:${outer.port}/`, maxRedirects: 3 })),
    ).toBe("invalid");
    expect(canary.connections).toBe(0);
  });
});
