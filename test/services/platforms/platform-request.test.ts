import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import type { PlatformRequest } from "../../../src/ports/platform-io.ts";
import { createConnectIo } from "../../../src/services/platforms/platform-io.ts";
import { createPhotobox } from "../../support/connect-fixtures.ts";
import { createTestContext } from "../../support/context.ts";

const closers: (() => PromiseLike<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function ask(
  listener: RequestListener,
  request: Partial<PlatformRequest>,
  signal = new AbortController().signal,
) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port }] });
  const ctx = await createTestContext({
    platformList: [createPhotobox().platform],
    outbound,
    feed: {} as never,
  });
  closers.push(
    () => ctx[Symbol.asyncDispose](),
    () => outbound[Symbol.asyncDispose](),
    async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  );
  const io = await createConnectIo(ctx, { provider: "photobox", ownerId: "default" }, signal);
  return io
    .request({ method: "POST", url: `http://127.0.0.1:${port}/x`, json: { a: 1 }, ...request })
    .catch((error: unknown) => error);
}

describe("a request to a real server", () => {
  it("brings JSON there and back", async () => {
    const answer = await ask((request, response) => {
      expect(request.headers["content-type"]).toBe("application/json");
      request.pipe(response);
    }, {});
    expect(answer).toMatchObject({ status: 200, json: { a: 1 } });
  });

  it.each([
    [false, "ambiguous"],
    [true, "transient"],
  ])("reads a connection that breaks with isIdempotent %s as %s", async (isIdempotent, kind) => {
    const broken = await ask((request) => void request.socket.destroy(), { isIdempotent });
    const cut = await ask(
      (_request, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write('{"id":', () => response.destroy());
      },
      { isIdempotent },
    );
    expect([broken, cut]).toMatchObject([{ kind }, { kind }]);
  });

  it("reads an answer without end, and one that does not come, as lost", async () => {
    const endless = await ask((_request, response) => {
      const more = (): void =>
        void response.write(Buffer.alloc(256 * 1024), (error) =>
          error instanceof Error ? undefined : setImmediate(more),
        );
      more();
    }, {});
    const silent = await ask(() => {}, { timeoutMs: 50 });
    expect([endless, silent]).toMatchObject([{ kind: "ambiguous" }, { kind: "ambiguous" }]);
  });

  it("reads an abort on the way as lost", async () => {
    const gone = new AbortController();
    expect(await ask(() => gone.abort(), {}, gone.signal)).toMatchObject({ kind: "ambiguous" });
  });

  it("knows that nothing was sent where nobody listens, and refuses private addresses", async () => {
    const unused = createServer().listen(0, "127.0.0.1");
    await once(unused, "listening");
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port }] });
    const ctx = await createTestContext({
      platformList: [createPhotobox().platform],
      outbound,
      feed: {} as never,
    });
    closers.push(
      () => ctx[Symbol.asyncDispose](),
      () => outbound[Symbol.asyncDispose](),
    );
    const io = await createConnectIo(
      ctx,
      { provider: "photobox", ownerId: "default" },
      new AbortController().signal,
    );
    await expect(io.request({ method: "POST", url: `http://127.0.0.1:${port}/` })).rejects.toMatchObject({
      kind: "not_sent",
    });
    await expect(io.request({ method: "POST", url: "http://10.0.0.1/" })).rejects.toMatchObject({
      kind: "rejected",
    });
  });
});
