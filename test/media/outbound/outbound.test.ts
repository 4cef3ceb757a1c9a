import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { OutboundFailure, type Outbound } from "../../../src/ports/outbound.ts";
import { startCanary, type Canary } from "../../support/canary.ts";

/** Answers of the names in the tests; `rebind.test` changes its mind after the first question. */
function createLookup(): {
  lookup: (hostname: string) => Promise<{ address: string; family: number }[]>;
  asked: Map<string, number>;
} {
  const asked = new Map<string, number>();
  const v4 = (address: string) => ({ address, family: 4 });
  const v6 = (address: string) => ({ address, family: 6 });
  const answers: Record<string, (times: number) => { address: string; family: number }[]> = {
    "private.test": () => [v4("127.0.0.1")],
    "lan.test": () => [v4("192.168.1.1")],
    "mixed.test": () => [v4("93.184.216.34"), v4("127.0.0.1")],
    "mixed6.test": () => [v6("2606:2800:220:1:248:1893:25c8:1946"), v6("::1")],
    "rebind.test": (times) => (times === 1 ? [v6("3ffe:ffff::1")] : [v4("127.0.0.1")]),
    "mapped.test": () => [v6("::ffff:127.0.0.1")],
    "nat64.test": () => [v6("64:ff9b::7f00:1")],
    "metadata.test": () => [v4("169.254.169.254")],
    "zero.test": () => [v4("0.0.0.0")],
    "allowed.test": () => [v4("127.0.0.1")],
  };
  const lookup = async (hostname: string): Promise<{ address: string; family: number }[]> => {
    const times = (asked.get(hostname) ?? 0) + 1;
    asked.set(hostname, times);
    const answer = answers[hostname];
    if (answer === undefined)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
    return answer(times);
  };
  return { lookup, asked };
}

describe("addresses that lead inside", () => {
  let canary: Canary;
  let outbound: Outbound & AsyncDisposable;
  beforeAll(async () => {
    canary = await startCanary();
    outbound = createOutbound({ allowedHosts: [], lookup: createLookup().lookup });
  });
  afterAll(async () => {
    await outbound[Symbol.asyncDispose]();
    await canary[Symbol.asyncDispose]();
  });

  const TRICKS = [
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://127.000.000.001:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://127.255.255.254:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fd00::1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://10.0.0.1:PORT/",
    "http://172.16.0.1:PORT/",
    "http://192.168.0.1:PORT/",
    "http://100.64.0.1:PORT/",
    "http://168.63.129.16:PORT/",
    "http://[::ffff:168.63.129.16]:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://198.18.0.1:PORT/",
    "http://255.255.255.255:PORT/",
    "http://224.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://a.localhost:PORT/",
    "http://private.test:PORT/",
    "http://PRIVATE.test:PORT/",
    "http://lan.test:PORT/",
    "http://mixed.test:PORT/",
    "http://mixed6.test:PORT/",
    "http://mapped.test:PORT/",
    "http://nat64.test:PORT/",
    "http://metadata.test:PORT/",
    "http://zero.test:PORT/",
    "https://127.0.0.1:PORT/",
    "https://private.test:PORT/",
    "http://user:secret@private.test:PORT/",
    "http://93.184.216.34@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@example.org/",
    "http://127.0.0.1:PORT\\@example.org/",
    "file:///etc/passwd",
    "data:text/plain,secret",
    "ftp://127.0.0.1:PORT/",
    "gopher://127.0.0.1:PORT/_GET%20/",
    "ws://127.0.0.1:PORT/",
    "javascript:alert(1)",
    "blob:http://127.0.0.1:PORT/1",
    "//127.0.0.1:PORT/",
    "http:///",
    "",
    "r2://a/b",
  ];

  it.each(TRICKS)("refuses %s", async (trick) => {
    const url = trick.replace("PORT", String(canary.port));
    for (const newConnection of [false, true]) {
      const error = await outbound
        .request({ method: "GET", url, newConnection, maxRedirects: 3 })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).kind).toBe("invalid");
      // Where a name leads inside is nobody's business.
      if (url.includes(".test"))
        expect((error as AppError).message).not.toMatch(/127\.|169\.254|192\.168|secret/);
    }
    expect(canary.connections).toBe(0);
  });

  it("connects to what was checked, so that a changing answer has nothing to change", async () => {
    const { lookup, asked } = createLookup();
    const public1 = createOutbound({ allowedHosts: [], lookup });
    const request = {
      method: "GET",
      url: `http://rebind.test:${canary.port}/`,
      timeoutMs: 200,
      newConnection: true,
    } as const;
    // The first answer is public (a block that nobody has any more), the second is not.
    await expect(public1.request(request)).rejects.toBeInstanceOf(OutboundFailure);
    expect(asked.get("rebind.test")).toBe(1);
    await expect(public1.request(request)).rejects.toMatchObject({ kind: "invalid" });
    expect(canary.connections).toBe(0);
    await public1[Symbol.asyncDispose]();
  });

  it.each([
    "http://example.org:22/",
    "http://example.org:25/",
    "http://example.org:6379/",
    "https://example.org:5432/",
  ])("refuses the port of another service: %s", async (url) => {
    await expect(outbound.request({ method: "GET", url })).rejects.toMatchObject({ kind: "invalid" });
  });

  it("checks form and literal without the network, and names the field", () => {
    expect(() => outbound.assertAllowed("mediaUrl", "http://10.1.2.3/a.jpg")).toThrow(
      /^mediaUrl: The address leads to a private network/,
    );
    expect(() => outbound.assertAllowed("url", "file:///etc/passwd")).toThrow(
      /^url: The address "file:\/\/\/etc\/passwd" is not/,
    );
    expect(outbound.assertAllowed("url", "https://example.org:8448/a?b=1").href).toBe(
      "https://example.org:8448/a?b=1",
    );
  });
});

describe("redirects", () => {
  it("are checked anew, at most so many, and lose credentials on another origin", async () => {
    await using inner = await startCanary();
    await using other = await startCanary((request, response) =>
      response.end(JSON.stringify(request.headers)),
    );
    await using outer = await startCanary((request, response) => {
      const targets: Record<string, string> = {
        "/private": `http://127.0.0.1:${inner.port}/`,
        "/decimal": `http://2130706433:${inner.port}/`,
        "/localhost": `http://localhost:${inner.port}/`,
        "/file": "file:///etc/passwd",
        "/userinfo": `http://user:secret@allowed.test:${outer.port}/end`,
        "/loop": "/loop",
        "/other": `http://second.test:${other.port}/`,
        "/same": "/end",
      };
      const location = targets[request.url ?? ""];
      response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location });
      response.end(request.headers.authorization ?? "none");
    });
    await using outbound = createOutbound({
      allowedHosts: [
        { host: "allowed.test", port: outer.port },
        { host: "second.test", port: null },
      ],
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    const get = (path: string) =>
      outbound.request({
        method: "GET",
        url: `http://allowed.test:${outer.port}${path}`,
        headers: { Authorization: "Bearer canary", Cookie: "a=b", "X-Key": "canary" },
        maxRedirects: 3,
      });

    for (const path of ["/private", "/decimal", "/localhost", "/file", "/userinfo"]) {
      await expect(get(path)).rejects.toMatchObject({ kind: "invalid" });
    }
    expect(inner.connections).toBe(0);
    await expect(get("/loop")).rejects.toThrow("More than 3 redirects.");
    expect(await text((await get("/same")).body)).toBe("Bearer canary");
    const there = await get("/other");
    expect(there.url).toBe(`http://second.test:${other.port}/`);
    expect(await text(there.body)).not.toContain("canary");
    expect(other.requests[0]?.headers).not.toHaveProperty("cookie");
  });

  it("are handed back where none are allowed, and for requests that change something", async () => {
    await using server = await startCanary((_request, response) =>
      response.writeHead(307, { location: "/end" }).end(),
    );
    await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
    expect((await outbound.request({ method: "GET", url: server.origin })).status).toBe(307);
    expect(
      (await outbound.request({ method: "POST", url: server.origin, body: "a", maxRedirects: 3 })).status,
    ).toBe(307);
    expect(server.requests).toHaveLength(2);
  });
});

describe("exceptions", () => {
  it("hold for the host and port that are named, and for no other", async () => {
    await using server = await startCanary();
    await using outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: server.port }] });
    expect((await outbound.request({ method: "GET", url: server.origin })).status).toBe(200);
    await expect(
      outbound.request({ method: "GET", url: `http://127.0.0.2:${server.port}` }),
    ).rejects.toMatchObject({ kind: "invalid" });
    await expect(outbound.request({ method: "GET", url: "http://127.0.0.1:1" })).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("made for one request hold for its origin alone, and not across redirects", async () => {
    await using base = await startCanary();
    await using outer = await startCanary((_request, response) =>
      response.writeHead(302, { location: base.origin }).end(),
    );
    await using outbound = createOutbound({
      allowedHosts: [{ host: "127.0.0.1", port: outer.port }],
    });
    const own = { method: "GET", url: `${base.origin}/xrpc/a`, mayBePrivate: true } as const;
    expect((await outbound.request(own)).status).toBe(200);
    for (const request of [{ url: base.origin }, { url: outer.origin, mayBePrivate: true, maxRedirects: 3 }])
      await expect(outbound.request({ method: "GET", ...request })).rejects.toMatchObject({
        kind: "invalid",
      });
    expect(base.requests).toHaveLength(1);
  });
});

describe("what a failure says about sending", () => {
  const allowedHosts = [{ host: "127.0.0.1", port: null }];

  async function failureOf(promise: Promise<unknown>): Promise<OutboundFailure> {
    const error = await promise.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutboundFailure);
    return error as OutboundFailure;
  }

  it.each([true, false])(
    "nothing left when no connection came up (newConnection: %s)",
    async (newConnection) => {
      await using outbound = createOutbound({ allowedHosts, lookup: createLookup().lookup });
      const closed = createServer();
      await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
      const { port } = closed.address() as AddressInfo;
      await new Promise((resolve) => closed.close(resolve));
      const request = { method: "POST", body: "x", newConnection } as const;
      expect(
        (await failureOf(outbound.request({ ...request, url: `http://127.0.0.1:${port}/` }))).wasSent,
      ).toBe(false);
      expect((await failureOf(outbound.request({ ...request, url: "http://missing.test/" }))).wasSent).toBe(
        false,
      );
    },
  );

  it("nothing left when TLS does not come up", async () => {
    await using plain = await startCanary();
    await using outbound = createOutbound({ allowedHosts });
    const request = outbound.request({
      method: "POST",
      url: `https://127.0.0.1:${plain.port}/`,
      body: "x",
      newConnection: true,
    });
    expect((await failureOf(request)).wasSent).toBe(false);
    expect(plain.requests).toHaveLength(0);
  });

  it.each([true, false])(
    "it may have been sent once it was written (newConnection: %s)",
    async (newConnection) => {
      await using server = await startCanary((request) => request.socket.destroy());
      await using outbound = createOutbound({ allowedHosts });
      const failure = await failureOf(
        outbound.request({ method: "POST", url: server.origin, body: "x", newConnection }),
      );
      expect(failure.wasSent).toBe(true);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("it may have been sent when a kept connection turns out to be closed", async () => {
    await using server = await startCanary((request, response) => {
      if (server.requests.length === 1) return void response.end("kept");
      request.socket.destroy();
    });
    await using outbound = createOutbound({ allowedHosts });
    await text((await outbound.request({ method: "GET", url: server.origin })).body);
    expect(
      (await failureOf(outbound.request({ method: "POST", url: server.origin, body: "x" }))).wasSent,
    ).toBe(true);
  });

  it("a caller who gives up before anything was sent is told so", async () => {
    await using outbound = createOutbound({ allowedHosts });
    const request = outbound.request({
      method: "POST",
      url: "http://127.0.0.1:9/",
      body: "x",
      signal: AbortSignal.abort(),
    });
    expect((await failureOf(request)).wasSent).toBe(false);
  });

  it.each([true, false])(
    "nothing left where it is called off in the last moment (newConnection: %s)",
    async (newConnection) => {
      await using server = await startCanary();
      await using outbound = createOutbound({ allowedHosts });
      const gone = new AbortController();
      const failure = await failureOf(
        outbound.request({
          method: "POST",
          url: server.origin,
          body: "x",
          newConnection,
          signal: gone.signal,
          beforeWriting: () => gone.abort(),
        }),
      );
      expect(failure.wasSent).toBe(false);
      // A connection came up, and nothing went over it.
      await expect.poll(() => server.connections).toBe(1);
      expect(server.requests).toHaveLength(0);
    },
  );

  it("a streamed body is broken off before its next piece", async () => {
    const arrived: Buffer[] = [];
    const closed: boolean[] = [];
    await using server = await startCanary((request) => {
      request.on("data", (chunk: Buffer) => arrived.push(chunk));
      request.on("error", () => {});
      request.once("close", () => closed.push(request.complete));
    });
    await using outbound = createOutbound({ allowedHosts });
    const gone = new AbortController();
    async function* pieces(): AsyncGenerator<Buffer> {
      yield Buffer.from("first");
      await expect.poll(() => arrived.length).toBe(1);
      yield Buffer.from("second");
    }
    const failure = await failureOf(
      outbound.request({
        method: "POST",
        url: server.origin,
        body: Readable.from(pieces(), { objectMode: false }),
        signal: gone.signal,
        beforeWriting: () => (arrived.length === 0 ? undefined : gone.abort()),
      }),
    );
    expect(failure.wasSent).toBe(true);
    await expect.poll(() => closed).toEqual([false]);
    expect(Buffer.concat(arrived).toString()).toBe("first");
  });
});

describe("limits", () => {
  const allowedHosts = [{ host: "127.0.0.1", port: null }];

  it("a server that never answers, stops, or trickles is left", async () => {
    await using server = await startCanary((request, response) => {
      if (request.url === "/silent") return;
      response.writeHead(200);
      response.write("begin");
      if (request.url === "/stops") return;
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    });
    await using outbound = createOutbound({ allowedHosts });
    const get = (path: string, limits: object) =>
      outbound.request({ method: "GET", url: server.origin + path, ...limits });
    await expect(get("/silent", { timeoutMs: 300 })).rejects.toBeInstanceOf(OutboundFailure);
    await expect(text((await get("/trickles", { timeoutMs: 300 })).body)).rejects.toThrow();
    await expect(text((await get("/stops", { timeoutMs: 20_000, idleMs: 500 })).body)).rejects.toThrow(
      /timeout/i,
    );
  });

  it("a body that nobody reads, or that is given up, brings nobody down", async () => {
    await using server = await startCanary((request, response) => {
      response.write("begin", () => (request.url === "/cut" ? response.destroy() : undefined));
    });
    await using outbound = createOutbound({ allowedHosts });
    for (const newConnection of [true, false]) {
      const given = await outbound.request({ method: "GET", url: server.origin, newConnection });
      given.body.destroy();
      const cut = await outbound.request({ method: "GET", url: `${server.origin}/cut`, newConnection });
      await new Promise((resolve) => cut.body.once("close", resolve).resume());
    }
  });

  it("a server that stops reading an upload is left", async () => {
    await using server = await startCanary((request) => void request.pause());
    await using outbound = createOutbound({ allowedHosts });
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) yield Buffer.alloc(65_536);
    }
    const request = outbound.request({
      method: "POST",
      url: server.origin,
      body: Readable.from(endless(), { objectMode: false }),
      idleMs: 300,
      timeoutMs: 20_000,
    });
    await expect(request).rejects.toThrow("Nothing moved for 300 ms.");
  });

  it("headers beyond measure are refused, and packed bodies are not unpacked", async () => {
    await using server = await startCanary((request, response) => {
      if (request.url === "/wide") response.setHeader("x-wide", "a".repeat(40_000));
      response.end("body");
    });
    await using outbound = createOutbound({ allowedHosts });
    await expect(outbound.request({ method: "GET", url: `${server.origin}/wide` })).rejects.toBeInstanceOf(
      OutboundFailure,
    );
    await text((await outbound.request({ method: "GET", url: server.origin })).body);
    expect(server.requests[1]?.headers["accept-encoding"]).toBe("identity");
  });
});
