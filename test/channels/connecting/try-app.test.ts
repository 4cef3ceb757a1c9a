import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { enterPlatformApp } from "../../../src/channels/connecting/try-app.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { effectiveSettings } from "../../../src/channels/platform-io/effective-settings.ts";
import { callOf, createTestContext } from "../../support/context.ts";
import { listen } from "../../support/listen.ts";

const closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const APP = { clientId: "app-1", clientSecret: "secret-canary/+%:=" };

type Answer = readonly [status: number, body: object | string];

interface Door {
  readonly way?: string;
  /** How the platform is asked, by its own description. */
  readonly asked: "POST" | "POST with basic" | "GET";
  readonly idName?: string;
  readonly grant: "authorization_code" | "client_credentials";
  /** To the right app. */
  readonly known: Answer;
  /** To another secret. */
  readonly refuses: Answer;
  /** Whether `known` proves anything. Default: true. */
  readonly proves?: false;
}

/** In the words that each platform's own description gives, or that people met. */
const DOORS: Readonly<Record<string, Door>> = {
  facebook: {
    asked: "GET",
    grant: "client_credentials",
    known: [200, { access_token: "1|x", token_type: "bearer" }],
    refuses: [
      400,
      { error: { message: "Error validating client secret.", type: "OAuthException", code: 1 } },
    ],
  },
  instagram: {
    way: "instagram",
    asked: "POST",
    grant: "authorization_code",
    known: [400, { error_type: "OAuthException", code: 400, error_message: "Invalid authorization code" }],
    refuses: [400, { error_type: "OAuthException", code: 400, error_message: "Invalid platform app" }],
    proves: false,
  },
  threads: {
    asked: "GET",
    grant: "client_credentials",
    known: [200, { access_token: "TH|1|x", token_type: "bearer" }],
    refuses: [
      400,
      { error: { message: "Error validating application.", type: "OAuthException", code: 101 } },
    ],
  },
  tiktok: {
    asked: "POST",
    idName: "client_key",
    grant: "client_credentials",
    known: [200, { access_token: "clt.x", expires_in: 7200, token_type: "Bearer" }],
    refuses: [200, { error: "invalid_client", error_description: "Client key or secret is incorrect." }],
  },
  linkedin: {
    asked: "POST",
    grant: "client_credentials",
    known: [401, { error: "access_denied", error_description: "not allowed to create application tokens" }],
    refuses: [401, { error: "invalid_client", error_description: "Client authentication failed" }],
  },
  x: {
    asked: "POST with basic",
    grant: "authorization_code",
    known: [400, { error: "invalid_request", error_description: "The authorization code was invalid." }],
    refuses: [401, { error: "unauthorized_client", error_description: "Missing valid authorization header" }],
  },
  reddit: {
    asked: "POST with basic",
    grant: "authorization_code",
    known: [200, { error: "invalid_grant" }],
    refuses: [401, { message: "Unauthorized", error: 401 }],
  },
  youtube: {
    asked: "POST",
    grant: "authorization_code",
    known: [400, { error: "invalid_grant", error_description: "Malformed auth code." }],
    refuses: [401, { error: "invalid_client", error_description: "The provided client secret is invalid." }],
  },
  pinterest: {
    asked: "POST with basic",
    grant: "authorization_code",
    known: [400, { error: "invalid_grant" }],
    refuses: [401, { code: 2, message: "Authentication failed." }],
  },
  tumblr: {
    asked: "POST",
    grant: "authorization_code",
    known: [400, { error: "invalid_grant", error_description: "Authorization code doesn't exist" }],
    refuses: [400, { error: "invalid_client", error_description: "The client credentials are invalid" }],
  },
  vimeo: {
    asked: "POST with basic",
    grant: "authorization_code",
    known: [400, { error: "invalid_grant" }],
    refuses: [401, { error: "invalid_client" }],
  },
  slack: {
    way: "oauth",
    asked: "POST",
    grant: "authorization_code",
    known: [200, { ok: false, error: "invalid_code" }],
    refuses: [200, { ok: false, error: "bad_client_secret" }],
  },
};

/** The platform's token endpoint; `wrong` says what it would not have understood. */
async function openDoor(name: string, door: Door, always?: Answer) {
  const wrong: string[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const fields = new URLSearchParams(request.method === "GET" ? url.search : await text(request));
    const [method, isBasic] = [door.asked === "GET" ? "GET" : "POST", door.asked === "POST with basic"];
    if (request.method !== method) wrong.push(`method ${request.method}`);
    if (fields.get("grant_type") !== door.grant) wrong.push(`grant_type ${fields.get("grant_type")}`);
    const isCode = door.grant === "authorization_code";
    if (fields.has("code") !== isCode || fields.has("redirect_uri") !== isCode) wrong.push("code");
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const header = Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent);
    const body = [fields.get(door.idName ?? "client_id"), fields.get("client_secret")];
    const [id, secret] = isBasic ? header : body;
    if (id !== APP.clientId) wrong.push(`id ${id}`);
    const [status, answer] = always ?? (secret === APP.clientSecret ? door.known : door.refuses);
    const words = typeof answer === "string" ? answer : JSON.stringify(answer);
    response.writeHead(status, { "content-type": "application/json" }).end(words);
  });
  const listening = await listen(server);
  const url = `${listening.origin}/token`;
  const outbound = createOutbound({ allowedHosts: [] });
  const { platforms } = await loadCatalog();
  const platformSettings = { [`POSTHORN_${name.toUpperCase()}_TOKEN_URL`]: url };
  const ctx = await createTestContext({
    platformList: [...platforms.values()],
    outbound,
    settings: { timezone: "UTC", maxLatenessMs: 1, uploadFolders: [], platformSettings },
  });
  closing.push(ctx, outbound, {
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  });
  const enter = (clientSecret = APP.clientSecret) =>
    enterPlatformApp(callOf(ctx), {
      provider: name,
      clientId: APP.clientId,
      clientSecret,
      ...(door.way === undefined ? {} : { way: door.way }),
    });
  const isStored = async () => Object.values(await effectiveSettings(ctx)).includes(APP.clientId);
  return { ctx, wrong, enter, isStored };
}

describe("an app that a person enters", () => {
  it.each(Object.entries(DOORS))(
    "is tried at %s, and a wrong secret is told and not kept",
    async (name, door) => {
      const { ctx, wrong, enter, isStored } = await openDoor(name, door);
      await expect(enter("another-canary")).rejects.toMatchObject({
        kind: "invalid",
        message: expect.stringMatching(
          / does not take this id with this secret, and nothing was stored\. Copy both/,
        ),
      });
      expect(await isStored()).toBe(false);
      expect(await enter()).toMatchObject({ configured: true, isAccepted: door.proves ?? true });
      expect(await isStored()).toBe(true);
      expect(wrong).toEqual([]);
      expect(ctx.log.text()).not.toContain("canary");
    },
  );

  it("is asked of every platform that has an app of its own", async () => {
    const { platforms } = await loadCatalog();
    const withApp = [...platforms.values()].filter(({ connect }) =>
      connect.some((way) => way.kind === "oauth" && way.register === undefined && way.appOf === undefined),
    );
    const untried = withApp.map(({ name }) => name).filter((name) => DOORS[name] === undefined);
    // Google answers for both of its platforms with the same words.
    expect(untried).toEqual(["google_business"]);
  });

  it.each<[string, Answer]>([
    ["has trouble of its own", [503, { error: "temporarily_unavailable" }]],
    ["says to ask less often", [429, {}]],
    ["gives a page in its place", [200, "<html>Please sign in to the hotel's network</html>"]],
    ["gives a refusal without a reason", [400, {}]],
  ])("is kept where the platform %s", async (_what, answer) => {
    const { enter, isStored } = await openDoor("youtube", DOORS["youtube"]!, answer);
    expect(await enter()).toMatchObject({ configured: true, isAccepted: false });
    expect(await isStored()).toBe(true);
  });
});
