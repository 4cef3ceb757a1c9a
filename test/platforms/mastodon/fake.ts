import { randomBytes } from "node:crypto";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { createConsents } from "./consents.ts";
import { PROFILES, instanceV1, instanceV2, type Profile } from "./profiles.ts";
import { receive, type Received } from "./request.ts";
import { createStatuses } from "./statuses.ts";
import { answerOf } from "../../support/described.ts";

export const SERVER = "https://social.example";

const ACCOUNT = {
  id: "109344536734567890",
  username: "alice",
  acct: "alice",
  display_name: "Alice",
  url: `${SERVER}/@alice`,
  avatar: `${SERVER}/avatars/alice.png`,
  followers_count: 42,
  statuses_count: 7,
};

interface Options {
  readonly now: () => number;
  readonly profile?: Partial<Profile>;
}

/**
 * A server that speaks Mastodon's API, behind the outbound client: strict about every request, as slow with films as
 * Mastodon, and with its ways of refusing. `wrong`: what its description does not know of a request.
 */
export function createFakeMastodon({ now, profile: given }: Options) {
  const profile: Profile = { ...PROFILES.mastodon, ...given };
  const wrong: string[] = [];
  const seen: Received[] = [];
  const consents = createConsents(profile);
  const posts = createStatuses({ now, profile, server: SERVER, account: ACCOUNT });

  const open = (request: Received): OutboundResponse | null => {
    switch (request.name) {
      case "GET /api/v2/instance":
        return profile.hasV2 ? answerOf(200, instanceV2(profile)) : answerOf(404, "<h1>404 Not Found</h1>");
      case "GET /api/v1/instance":
        return answerOf(200, instanceV1(profile));
      case "GET /.well-known/oauth-authorization-server":
        return profile.hasPkce
          ? answerOf(200, { issuer: `${SERVER}/`, code_challenge_methods_supported: ["S256"] })
          : answerOf(404, { error: "Not Found" });
      case "POST /api/v1/apps":
        return consents.register(request);
      case "POST /oauth/token":
        return consents.token(request);
      case "POST /oauth/revoke":
        return consents.revoke(request);
      default:
        return null;
    }
  };

  const serve = (request: Received): OutboundResponse => {
    const granted = consents.scopesOfToken(request.headers["authorization"] ?? "");
    if (granted === null) {
      return profile.software === "pixelfed"
        ? answerOf(500, { error: "Unauthenticated." })
        : answerOf(401, { error: "The access token is invalid" });
    }
    const needed = request.scopes.filter(
      (scope) =>
        scope !== "profile" && !granted.includes(scope) && !granted.includes(scope.split(":")[0] ?? ""),
    );
    if (needed.length > 0) return answerOf(403, { error: "This action is outside the authorized scopes" });
    if (request.name === "GET /api/v1/accounts/verify_credentials") return answerOf(200, ACCOUNT);
    if (request.name === "GET /api/v1/accounts/search")
      return answerOf(200, [{ id: "2", acct: "bob@b.example", username: "bob", display_name: "Bob [B]" }]);
    if (request.name === "GET /api/v1/apps/verify_credentials")
      return profile.hasPkce
        ? answerOf(200, { name: "Mine", scopes: granted })
        : answerOf(200, { name: "Mine" });
    return posts.serve(request);
  };

  const handle = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const { origin, pathname } = new URL(request.url);
    if (origin !== SERVER) throw new OutboundFailure(`Nobody is at ${origin}.`, false);
    if (pathname === "/.well-known/nodeinfo") {
      const rel = "http://nodeinfo.diaspora.software/ns/schema/2.0";
      return answerOf(200, { links: [{ rel, href: `${SERVER}/nodeinfo/2.0` }] });
    }
    if (pathname === "/nodeinfo/2.0")
      return answerOf(200, {
        version: "2.0",
        software: { name: profile.software, version: profile.version },
      });
    const received = await receive(request, SERVER);
    if (typeof received === "string") {
      wrong.push(received);
      return answerOf(404, { error: "Record not found" });
    }
    if (request.method !== "GET" && request.newConnection !== true)
      wrong.push(`${received.name}: on a kept connection`);
    seen.push(received);
    return open(received) ?? serve(received);
  };

  const outbound: Outbound = { request: handle, assertAllowed: (_field, url) => new URL(url) };
  return {
    door: outbound,
    wrong,
    seen,
    posts,
    consents,
    /** A token as a person makes it under Preferences, Development. */
    makeToken: (scopes: readonly string[] = ["read", "write"]) =>
      consents.keepToken(`token-${randomBytes(8).toString("hex")}`, scopes),
    count: (operation: string) => seen.filter(({ name }) => name === operation).length,
  };
}

export type FakeMastodon = ReturnType<typeof createFakeMastodon>;
