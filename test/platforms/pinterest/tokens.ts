import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import type { FakeState } from "./fake.ts";

const CLIENT = `Basic ${Buffer.from("client-1:secret-1").toString("base64")}`;

/** The token endpoint: Basic, a form, codes and refresh tokens that work once. */
export function answerToken(
  state: FakeState,
  { method, headers = {} }: OutboundRequest,
  body: string,
): { status: number; body: object } {
  const refuse = (status: number, message: string) => ({ status, body: { code: status, message } });
  if (method !== "POST" || headers["content-type"] !== "application/x-www-form-urlencoded")
    return refuse(400, "Bad request.");
  if (headers["authorization"] !== CLIENT) return refuse(401, "Authentication failed.");
  const fields = Object.fromEntries(new URLSearchParams(body));
  const isRefresh = fields["grant_type"] === "refresh_token";
  if (!isRefresh && fields["continuous_refresh"] !== "true") return refuse(400, "An old kind of token.");
  const from = isRefresh ? state.refreshTokens : state.codes;
  const key = fields[isRefresh ? "refresh_token" : "code"] ?? "";
  const scopes = from.get(key);
  if (scopes === undefined) return refuse(400, "Invalid grant.");
  from.delete(key);
  state.nextId += 1n;
  const [access, refresh] = [`pina_${state.nextId}`, `pinr_${state.nextId}`];
  state.tokens.set(access, scopes);
  state.refreshTokens.set(refresh, scopes);
  return {
    status: 200,
    body: {
      access_token: access,
      token_type: "bearer",
      expires_in: 2_592_000,
      refresh_token: refresh,
      refresh_token_expires_in: 5_184_000,
      scope: scopes.join(","),
    },
  };
}
