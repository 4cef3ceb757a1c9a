import * as z from "zod";
import { connectWithSecrets } from "../../src/channels/connecting/connections.ts";
import type { CallContext } from "../../src/context.ts";
import type { ConnectIo, SecretsWay, Tokens } from "../../src/ports/connect.ts";
import type { PlatformPost, PublishOutcome } from "../../src/ports/platform.ts";
import type { PlatformIo, PlatformRequest } from "../../src/ports/platform-io.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { scriptedPlatform, targetOf, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";
import type { Answer, Arrived, Server } from "./network.ts";
import type { World } from "./world.ts";

/*
 * A platform whose tokens end after minutes, and are renewed with a token that works once. Two channels share them. It
 * also tells figures.
 */

const Granted = z.object({ access: z.string(), refresh: z.string(), until: z.number() });

async function grantedBy(
  io: Pick<ConnectIo, "ask" | "setting">,
  json: Record<string, string>,
): Promise<Tokens> {
  const url = `${io.setting("BASE_URL") ?? ""}/h/token`;
  const { access, refresh, until } = await io.ask({ method: "POST", url, json }, Granted);
  const secrets = { accessToken: access, refreshToken: refresh, code: "" };
  return { secrets, expiresAt: until, renewableUntil: null, scopes: null, answer: {} };
}

const way: SecretsWay = {
  kind: "secrets",
  name: "code",
  label: "Code",
  instructions: "Enter the code.",
  fields: [{ name: "code", label: "Code", help: "Yours.", isRequired: true, isSecret: true }],
  renewal: {
    beforeMs: 0,
    isSingleUse: true,
    renew: ({ refreshToken = "" }, io) => grantedBy(io, { refresh: refreshToken }),
  },
  connect: async ({ secrets: { code = "" } }, io) => ({
    tokens: await grantedBy(io, { code }),
    targets: ["1", "2"].map((id) => targetOf({ platformAccountId: `page ${id}`, name: `Page ${id}` })),
  }),
};

/** Connects its two channels, or one of them again. */
export async function connectPages(call: CallContext, accountId?: string): Promise<{ ids: string[] }> {
  const of = accountId === undefined ? { provider: "class_h" } : { accountId };
  const choose = async (found: readonly { key: string }[]): Promise<string[]> => found.map(({ key }) => key);
  const { accounts } = await connectWithSecrets(call, { ...of, secrets: { code: "c" }, choose });
  return { ids: accounts.map(({ id }) => id) };
}

function ask<T>(
  io: PlatformIo,
  path: string,
  request: Omit<PlatformRequest, "url">,
  form: z.ZodType<T>,
): Promise<T> {
  const headers = { ...request.headers, "x-account": io.account.platformAccountId ?? "" };
  const url = `${io.setting("BASE_URL") ?? ""}/h/${path}`;
  const sign = ({ accessToken = "" }) => ({ headers: { ...headers, authorization: accessToken } });
  return io.ask({ ...request, url, sign }, form);
}

async function publish({ caption }: PlatformPost, io: PublishIo): Promise<PublishOutcome> {
  const id = await io.effect<string>({
    step: "create",
    request: { text: caption },
    send: async ({ key }) => {
      const request = {
        method: "POST",
        headers: { "idempotency-key": key },
        json: { text: caption },
      } as const;
      return (await ask(io, "posts", request, z.object({ id: z.string() }))).id;
    },
    reconcile: async () => ({ outcome: "send_again", isStillInDoubt: true }),
  });
  return { state: "live", platformPostId: id, platformUrl: null };
}

export const class_h = scriptedPlatform({
  name: "class_h",
  capabilities: {
    ...TEXT_CAPABILITIES,
    reconciles: "server_key",
    analytics: { account: [], post: ["likes"] },
  },
  connect: [way],
  publish,
  insights: async ({ platformPostId }, io) => {
    const form = z.object({ likes: z.number() });
    const metrics = await ask(io, `posts/${platformPostId ?? ""}`, { method: "GET" }, form);
    return { state: "live", visibility: "public", metrics };
  },
});

interface Login {
  access: string;
  refresh: string;
  until: number;
  isOver: boolean;
}

export class RenewedPlatform {
  /** A token that worked once came again. */
  readonly violations: string[] = [];
  /** Figures that were told, by the post that they are of. */
  readonly figures = new Map<string, string[]>();
  readonly #world: World;
  readonly #publish: Server;
  readonly #logins: Login[] = [];
  readonly #byRefresh = new Map<string, Login>();
  #next = 1;

  /** `publish`: a server of posts with keys, for those with a token. */
  constructor(world: World, publish: Server) {
    this.#world = world;
    this.#publish = publish;
  }

  serve(request: Arrived): Answer {
    const [, , what, id] = request.url.pathname.split("/");
    if (what === "token") return this.#token(JSON.parse(request.body) as { refresh?: string });
    const login = this.#logins.find(({ access }) => access === request.headers["authorization"]);
    if (login === undefined || login.isOver || this.#world.now > login.until)
      return { status: 401, body: { error: "The token is over." } };
    return request.method === "GET" ? this.#figure(id ?? "") : this.#publish(request);
  }

  #token({ refresh }: { readonly refresh?: string }): Answer {
    const login =
      refresh === undefined
        ? { access: "", refresh: "", until: 0, isOver: false }
        : this.#byRefresh.get(refresh);
    if (login === undefined || login.isOver || (refresh !== undefined && login.refresh !== refresh)) {
      this.violations.push("a token to renew with came again");
      if (login !== undefined) login.isOver = true;
      return { status: 400, body: { error: "invalid_grant" } };
    }
    const nth = this.#next++;
    const until = Math.floor(this.#world.now) + this.#world.between(60_000, 240_000);
    Object.assign(login, { access: `access token ${nth}`, refresh: `refresh token ${nth}`, until });
    if (refresh === undefined) this.#logins.push(login);
    this.#byRefresh.set(login.refresh, login);
    return { status: 200, body: { access: login.access, refresh: login.refresh, until } };
  }

  #figure(id: string): Answer {
    const likes = this.#next++;
    this.figures.set(id, [...(this.figures.get(id) ?? []), String(likes)]);
    this.#world.note(`FIGURE of ${id}: ${likes}`);
    return { status: 200, body: { likes } };
  }
}
