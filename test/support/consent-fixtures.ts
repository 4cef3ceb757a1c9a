import { z } from "zod";
import { createOutbound } from "../../src/media/outbound/outbound.ts";
import type { OAuthWay, RedirectWay, SecretsWay, Target } from "../../src/ports/connect.ts";
import { definePlatform, type AnyPlatform } from "../../src/ports/platform.ts";
import type { AppContext } from "../../src/context.ts";
import { startAuthorizationServer, type AuthorizationServer } from "./authorization-server.ts";
import { targetOf, TEXT_CAPABILITIES } from "./scripted-platform.ts";
import { startService, type Service } from "./service.ts";

/** What the invented platform has; tests change it. */
interface Parlor {
  channels: Target[];
}

export const NEWS = targetOf({ platformAccountId: "page-1", name: "News", handle: "news" });
export const SPORT = targetOf({
  platformAccountId: "page-2",
  name: "Sport",
  secrets: { pageToken: "sport-canary" },
});
export const CLOSED = targetOf({
  platformAccountId: "page-3",
  name: "Archive",
  problem: "You may not create content on this Page.",
});

function createParlor(parlor: Parlor, origin: string, its: Partial<OAuthWay>): AnyPlatform {
  const oauth: OAuthWay = {
    kind: "oauth",
    name: "oauth",
    label: "Sign in with Parlor",
    instructions: "Sign in to Parlor and allow Posthorn to post.",
    setup: {
      url: "https://parlor.example/apps",
      steps: ["Register an app.", "Enter {redirectUrl} as its address."],
      warnings: ["It costs nothing."],
    },
    endpoints: { authorize: `${origin}/authorize`, token: `${origin}/token` },
    scopes: ["read", "write"],
    neededScopes: ["write"],
    scopeSeparator: " ",
    pkce: "S256",
    clientAuth: "body",
    redirect: "any",
    instance: "no",
    renewal: { beforeMs: 60_000, isSingleUse: false },
    targets: async () => parlor.channels,
    ...its,
  };
  const bot: SecretsWay = {
    kind: "secrets",
    name: "bot",
    label: "Bot token",
    instructions: "Enter the bot's token.",
    fields: [{ name: "botToken", label: "Token", help: "Of the bot.", isRequired: true, isSecret: true }],
    renewal: null,
    connect: async ({ secrets }) => ({
      tokens: { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} },
      targets: parlor.channels,
    }),
  };
  const redirect: RedirectWay = {
    kind: "redirect",
    name: "page",
    label: "Parlor's own page",
    instructions: "Agree on Parlor's page.",
    instance: "no",
    redirect: "any",
    begin: async (_input, place) => ({
      url: `${origin}/own?back=${encodeURIComponent(place.redirectUrl)}`,
      keep: { session: "s-1" },
    }),
    finish: async (answer, { keep }) => ({
      tokens: null,
      targets: [{ ...NEWS, secrets: { accessToken: `${answer["session"]}-${String(keep["session"])}` } }],
    }),
  };
  return definePlatform({
    name: "parlor",
    title: "Parlor",
    docs: "https://parlor.example/docs",
    capabilities: TEXT_CAPABILITIES,
    metadata: z.strictObject({}),
    settings: [],
    connect: [oauth, bot, redirect],
    publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const,
  });
}

export interface ConsentService extends AsyncDisposable {
  readonly service: Service;
  readonly parlor: Parlor;
  readonly provider: AuthorizationServer;
  readonly origin: string;
  /** `connect_channel`, and the address of its page at this server. */
  connect(args?: object): Promise<{ url: string; connectId: string; instructions: string }>;
  check(connectId: string): Promise<any>;
  /** Sends the page's button; the platform's address, which this browser is marked for. */
  goOn(url: string): Promise<string>;
  /** The browser that pressed the button comes back. */
  comeBack(address: string | URL): Promise<Response>;
  /** Where the platform sends the person back to, once they have decided. */
  decide(authorizeUrl: string): Promise<string>;
  /** All of it: the page that the person ends at. */
  agree(url: string): Promise<Response>;
  accounts(): Promise<any[]>;
}

/** The real composition with a platform that is connected by consent. */
export async function startConsentService(
  settings: Readonly<Record<string, string>> = {},
  overrides: Partial<AppContext> = {},
  its: Partial<OAuthWay> = {},
): Promise<ConsentService> {
  const provider = await startAuthorizationServer();
  const parlor: Parlor = { channels: [NEWS] };
  const platform = createParlor(parlor, provider.origin, its);
  const outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  let origin = "http://127.0.0.1:1";
  const service = await startService(
    {},
    {
      outbound,
      platforms: new Map([[platform.name, platform]]),
      publicUrl: async () => origin,
      settings: {
        timezone: "UTC",
        maxLatenessMs: 60 * 60_000,
        uploadFolders: [],
        platformSettings: {
          POSTHORN_PARLOR_CLIENT_ID: "app",
          POSTHORN_PARLOR_CLIENT_SECRET: "app-secret",
          ...settings,
        },
      },
      ...overrides,
    },
  );
  origin = `http://127.0.0.1:${service.port}`;
  const cookies: string[] = [];
  const self: ConsentService = {
    service,
    parlor,
    provider,
    origin,
    async connect(args = {}) {
      const answer = await service.ask("POST /api/v1/tools/connect_channel", {
        json: { provider: "parlor", ...args },
      });
      if (answer.status !== 200) throw new Error(answer.json.error);
      return answer.json.result;
    },
    check: async (connectId) =>
      (await service.ask("POST /api/v1/tools/check_connection", { json: { connectId } })).json.result,
    async goOn(url) {
      const page = new URL(url);
      page.searchParams.set("step", "consent");
      const answer = await fetch(page, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams(),
        headers: { "Sec-Fetch-Site": "same-origin" },
      });
      const [cookie] = answer.headers.getSetCookie();
      if (cookie !== undefined) cookies.push(cookie.split(";")[0]!);
      return answer.headers.get("location") ?? `${answer.status}: ${await answer.text()}`;
    },
    async decide(authorizeUrl) {
      const answer = await fetch(authorizeUrl, { redirect: "manual" });
      return answer.headers.get("location") ?? "";
    },
    comeBack: (address) => fetch(address, { headers: { Cookie: cookies.join("; ") } }),
    agree: async (url) => self.comeBack(await self.decide(await self.goOn(url))),
    accounts: async () => (await service.ask("GET /api/v1/accounts")).json.accounts,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await outbound[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
  return self;
}
