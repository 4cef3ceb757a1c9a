import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "./listen.ts";

interface Issued {
  readonly challenge: string | null;
  readonly redirectUri: string;
}

export interface AuthorizationServer extends AsyncDisposable {
  readonly origin: string;
  /** What the person does: agrees, says no, or leaves something out. */
  person: "agrees" | "refuses" | "unticks";
  /** How the token endpoint answers. */
  token: "works" | "is down";
  /** Codes that were exchanged for tokens. */
  readonly exchanged: string[];
  /** Requests to the token endpoint, whatever came of them. */
  asked: number;
}

/** A small one that knows one client ("app", "app-secret"), and a person who decides at once. */
export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const codes = new Map<string, Issued>();
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "", "http://localhost");
      if (url.pathname === "/authorize") {
        response.writeHead(302, { Location: decide(self, codes, url.searchParams) }).end();
        return;
      }
      self.asked += 1;
      const { status, body } = await exchange(self, codes, request);
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    })();
  });
  const listening = await listen(server);
  const self: AuthorizationServer = {
    origin: listening.origin,
    person: "agrees",
    token: "works",
    exchanged: [],
    asked: 0,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
  return self;
}

function decide(self: AuthorizationServer, codes: Map<string, Issued>, query: URLSearchParams): string {
  const redirectUri = query.get("redirect_uri") ?? "";
  const back = new URL(redirectUri);
  back.searchParams.set("state", query.get("state") ?? "");
  if (self.person === "refuses") {
    back.searchParams.set("error", "access_denied");
    return back.href;
  }
  const code = randomBytes(12).toString("hex");
  codes.set(code, { challenge: query.get("code_challenge"), redirectUri });
  back.searchParams.set("code", code);
  return back.href;
}

async function exchange(
  self: AuthorizationServer,
  codes: Map<string, Issued>,
  request: IncomingMessage,
): Promise<{ status: number; body: object }> {
  const form = new URLSearchParams(await text(request));
  if (self.token === "is down") return { status: 503, body: {} };
  const code = form.get("code") ?? "";
  const issued = codes.get(code);
  codes.delete(code);
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const isRight =
    issued !== undefined &&
    issued.redirectUri === form.get("redirect_uri") &&
    issued.challenge === challenge &&
    form.get("client_secret") === "app-secret";
  if (!isRight) return { status: 400, body: { error: "invalid_grant" } };
  self.exchanged.push(code);
  const scope = self.person === "unticks" ? "read" : "read write";
  const n = self.exchanged.length;
  return {
    status: 200,
    body: {
      access_token: `access-${n}-canary`,
      // Given once, as many do.
      ...(n === 1 ? { refresh_token: "refresh-1-canary" } : {}),
      expires_in: 3600,
      token_type: "bearer",
      scope,
    },
  };
}
