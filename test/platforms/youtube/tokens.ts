import { createHash } from "node:crypto";
import { json, type Answer } from "./answers.ts";

export const APP = { id: "app.apps.googleusercontent.com", secret: "GOCSPX-canary" };

/** Google's token endpoint: codes work once, refresh tokens for good, and none comes with a refresh. */
export function createTokens(wrong: string[]) {
  const codes = new Map<string, { challenge: string; redirectUri: string; scope: string }>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  let count = 0;
  const self = {
    refreshes: 0,
    revoked: [] as string[],
    /** A consent that was given before the test. */
    grant() {
      count += 1;
      const given = { accessToken: `ya29.${count}`, refreshToken: `1//${count}` };
      access.add(given.accessToken);
      refresh.add(given.refreshToken);
      return given;
    },
    expireAll: () => access.clear(),
    isLive: (header: string | undefined) => access.has((header ?? "").replace(/^Bearer /, "")),
    /** The person opens the address and agrees; what they come back with. */
    consent(address: string, granted?: string): Record<string, string> {
      const { origin, pathname, searchParams: asked } = new URL(address);
      const fixed = {
        response_type: "code",
        client_id: APP.id,
        access_type: "offline",
        prompt: "consent",
        code_challenge_method: "S256",
      };
      if (`${origin}${pathname}` !== "https://accounts.google.com/o/oauth2/v2/auth") wrong.push(address);
      for (const [name, value] of Object.entries(fixed))
        if (asked.get(name) !== value) wrong.push(`authorize: ${name} ${asked.get(name)}`);
      const code = `4/${(count += 1)}`;
      codes.set(code, {
        challenge: asked.get("code_challenge") ?? "",
        redirectUri: asked.get("redirect_uri") ?? "",
        scope: granted ?? asked.get("scope") ?? "",
      });
      return { code, state: asked.get("state") ?? "" };
    },
    answer(body: Buffer, headers: Readonly<Record<string, string>>): Answer {
      const form = Object.fromEntries(new URLSearchParams(body.toString()));
      if (headers["content-type"] !== "application/x-www-form-urlencoded") wrong.push("token: no form");
      if (form["client_id"] !== APP.id || form["client_secret"] !== APP.secret)
        return json({ error: "invalid_client", error_description: "The OAuth client was not found." }, 401);
      const token = { access_token: "", expires_in: 3599, token_type: "Bearer" };
      if (form["grant_type"] === "refresh_token") {
        self.refreshes += 1;
        if (!refresh.has(form["refresh_token"] ?? ""))
          return json(
            { error: "invalid_grant", error_description: "Token has been expired or revoked." },
            400,
          );
        return json({ ...token, access_token: self.grant().accessToken });
      }
      const known = codes.get(form["code"] ?? "");
      codes.delete(form["code"] ?? "");
      const challenge = createHash("sha256")
        .update(form["code_verifier"] ?? "")
        .digest("base64url");
      if (known === undefined || known.challenge !== challenge || known.redirectUri !== form["redirect_uri"])
        return json({ error: "invalid_grant", error_description: "Malformed auth code." }, 400);
      const given = self.grant();
      return json({
        ...token,
        access_token: given.accessToken,
        refresh_token: given.refreshToken,
        scope: known.scope,
      });
    },
    revoke(body: Buffer): Answer {
      const token = new URLSearchParams(body.toString()).get("token") ?? "";
      self.revoked.push(token);
      return refresh.delete(token) ? json({}) : json({ error: "invalid_token" }, 400);
    },
  };
  return self;
}
