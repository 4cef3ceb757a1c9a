import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLACE } from "../support/oauth-world.ts";
import {
  type Agent,
  type AgentServer,
  authorizePath,
  newChallenge,
  register,
  startAgentServer,
  takeCode,
} from "../support/agents.ts";
import { CLIENT } from "../support/fake-oauth.ts";
import { startOidcProvider } from "../support/oidc.ts";

/* What a client is answered by oidc-provider, which is certified, and by our authorization server. */

const REDIRECT = PLACE.redirectUrl;
const BASIC_OF = (id: string, secret: string): string =>
  `Basic ${Buffer.from([id, secret].map(encodeURIComponent).join(":")).toString("base64")}`;

interface Peer {
  readonly basic: string;
  /** The client with another secret. */
  readonly wrong: string;
  /** A good code, and what it is exchanged with. */
  code(): Promise<Record<string, string>>;
  token(fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
}

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

let provider: Awaited<ReturnType<typeof startOidcProvider>>;
let server: AgentServer;
let agent: Agent;
const peers: Record<"theirs" | "ours", Peer> = {} as never;

beforeAll(async () => {
  provider = await startOidcProvider(REDIRECT);
  server = await startAgentServer();
  agent = await register(server, {
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "client_secret_basic",
  });
  peers.theirs = {
    basic: BASIC_OF(CLIENT.id, CLIENT.secret),
    wrong: BASIC_OF(CLIENT.id, "another"),
    async code() {
      const { verifier, challenge } = newChallenge();
      const query = new URL(
        `http://x${authorizePath(CLIENT.id, challenge, { redirect_uri: REDIRECT, resource: null })}`,
      );
      query.searchParams.set("scope", "openid read write");
      const { code = "" } = await provider.consent(`${provider.endpoints.authorize}${query.search}`);
      return { grant_type: "authorization_code", code, redirect_uri: REDIRECT, code_verifier: verifier };
    },
    async token(fields, headers = {}) {
      const answer = await fetch(provider.endpoints.token, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { Authorization: this.basic, ...headers },
      });
      return { status: answer.status, json: (await answer.json()) as Answer["json"] };
    },
  };
  peers.ours = {
    basic: BASIC_OF(agent.id, agent.secret ?? ""),
    wrong: BASIC_OF(agent.id, "another"),
    async code() {
      const {
        client_id: _id,
        client_secret: _secret,
        ...fields
      } = await takeCode(server, agent, {
        redirectUri: REDIRECT,
      });
      return fields as Record<string, string>;
    },
    async token(fields, headers = {}) {
      const { status, json } = await server.post("/oauth/token", fields, {
        Authorization: this.basic,
        ...headers,
      });
      return { status, json };
    },
  };
}, 120_000);
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

type Story = (peer: Peer) => Promise<Answer>;

const without = (fields: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

async function refreshOf(peer: Peer): Promise<Record<string, string>> {
  const { json } = await peer.token(await peer.code());
  return { grant_type: "refresh_token", refresh_token: String(json["refresh_token"]) };
}

const STORIES: Readonly<Record<string, Story>> = {
  "a good code": async (peer) => peer.token(await peer.code()),
  "a code for the second time": async (peer) => {
    const fields = await peer.code();
    await peer.token(fields);
    return peer.token(fields);
  },
  "a code that does not exist": async (peer) => peer.token({ ...(await peer.code()), code: "nothing" }),
  "no code": async (peer) => peer.token(without(await peer.code(), "code")),
  "another verifier": async (peer) =>
    peer.token({ ...(await peer.code()), code_verifier: newChallenge().verifier }),
  "no verifier": async (peer) => peer.token(without(await peer.code(), "code_verifier")),
  "another address": async (peer) =>
    peer.token({ ...(await peer.code()), redirect_uri: "https://a.example/" }),
  "another kind of grant": async (peer) => peer.token({ ...(await peer.code()), grant_type: "password" }),
  "no kind of grant": async (peer) => peer.token(without(await peer.code(), "grant_type")),
  "a wrong secret": async (peer) => peer.token(await peer.code(), { Authorization: peer.wrong }),
  "an unknown client": async (peer) =>
    peer.token(await peer.code(), { Authorization: BASIC_OF("cli_nothing", "nothing") }),
  "no client": async (peer) => peer.token(await peer.code(), { Authorization: "" }),
  "a good refresh token": async (peer) => peer.token(await refreshOf(peer)),
  "a refresh token that does not exist": async (peer) =>
    peer.token({ ...(await refreshOf(peer)), refresh_token: "nothing" }),
  "no refresh token": async (peer) => peer.token(without(await refreshOf(peer), "refresh_token")),
};

/** Where both are right by the letter. */
const OURS: Readonly<Record<string, object>> = {
  // RFC 6749, 5.2: a parameter is missing.
  "no verifier": { status: 400, error: "invalid_request" },
  // Claude and others register anew at this answer, and at no other.
  "no client": { status: 401, error: "invalid_client" },
};

describe("a client is answered the same by a certified server and by ours for", () => {
  it.each(Object.keys(STORIES))("%s", async (name) => {
    const story = STORIES[name] as Story;
    const [theirs, ours] = [await story(peers.theirs), await story(peers.ours)];
    const shape = ({ status, json }: Answer) => ({
      status,
      error: json["error"],
      type: json["token_type"],
      hasTokens: [typeof json["access_token"], typeof json["refresh_token"]],
    });
    expect(shape(ours)).toEqual({ ...shape(theirs), ...OURS[name] });
  });

  it("but for a refresh token that comes twice at once: ours works on for two minutes", async () => {
    const twice: Story = async (peer) => {
      const fields = await refreshOf(peer);
      await peer.token(fields);
      return peer.token(fields);
    };
    expect(await twice(peers.theirs)).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
    // Clients that ask twice at the same moment would be signed out.
    expect((await twice(peers.ours)).status).toBe(200);
  });
});
