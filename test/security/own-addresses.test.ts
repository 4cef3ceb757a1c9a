import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import { connectWithSecrets } from "../../src/channels/connecting/connections.ts";
import { createConnectIo } from "../../src/channels/platform-io/connect-io.ts";
import { startCanary, type Canary } from "../support/canary.ts";
import { callOf } from "../support/context.ts";
import { startService, type Service } from "../support/service.ts";

let canary: Canary;
let outbound: ReturnType<typeof createOutbound>;
let service: Service;

beforeAll(async () => {
  canary = await startCanary((_request, response) => response.writeHead(404).end());
  outbound = createOutbound({ allowedHosts: [] });
  service = await startService({}, { outbound });
  // The administrator's own Lemmy, Facebook (as a test stands in for it) and address to come back to.
  Object.assign(service.ctx.settings.platformSettings, {
    POSTHORN_LEMMY_BASE_URL: canary.origin,
    POSTHORN_FACEBOOK_TOKEN_URL: `${canary.origin}/token`,
    POSTHORN_X_REDIRECT_URL: `${canary.origin}/connect/callback`,
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await outbound[Symbol.asyncDispose]();
  await canary[Symbol.asyncDispose]();
});

describe("a setting of one platform", () => {
  it.each(["mastodon", "pixelfed", "misskey", "peertube", "wordpress", "matrix", "ghost"])(
    "leads no request of %s inside",
    async (provider) => {
      const before = canary.connections;
      const told = await service.ask("POST /api/v1/tools/connect_channel", {
        json: { provider, instanceUrl: `${canary.origin}/minio/admin/v3` },
      });
      expect([provider, told.status, told.json.error]).toEqual([
        provider,
        400,
        expect.stringContaining("instanceUrl: The address leads to a private network"),
      ]);
      expect(canary.connections).toBe(before);
    },
  );

  const reach = async (provider: string, url: string): Promise<string> => {
    const io = await createConnectIo(
      service.ctx,
      { provider, ownerId: "default" },
      new AbortController().signal,
    );
    return io.request({ method: "GET", url }).then(
      () => "answered",
      (error: { httpStatus: number | null }) => (error.httpStatus === 404 ? "answered" : "refused"),
    );
  };

  it("leads its own requests inside, to its origin alone", async () => {
    expect(await reach("lemmy", `${canary.origin}/api/v3/site`)).toBe("answered");
    expect(await reach("lemmy", "http://127.0.0.1:1/")).toBe("refused");
    expect(await reach("mastodon", `${canary.origin}/api/v3/site`)).toBe("refused");
    expect(await reach("x", `${canary.origin}/connect/callback`)).toBe("refused");
  });

  it("leads those of a platform that uses its app", async () => {
    expect(await reach("facebook", `${canary.origin}/token`)).toBe("answered");
    expect(await reach("instagram", `${canary.origin}/token`)).toBe("answered");
    expect(await reach("threads", `${canary.origin}/token`)).toBe("refused");
  });

  it("may be named by a user of that platform", async () => {
    const before = canary.requests.length;
    await connectWithSecrets(callOf(service.ctx), {
      provider: "lemmy",
      instanceUrl: canary.origin,
      secrets: { username: "bob", password: "secret" },
    }).catch(() => {});
    expect(canary.requests.length).toBeGreaterThan(before);
  });
});
