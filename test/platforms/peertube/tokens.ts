import { json, type Answer } from "../youtube/answers.ts";
import { problem } from "./spec.ts";

const CLIENT = { client_id: "client0001", client_secret: "client-secret-canary" };
export const PERSON = { username: "alice", password: "correct horse" };
export const OTP = "123456";

const DAY_SECONDS = 86_400;

/** The server's sign-in: refresh tokens are good once, and take their access token with them. */
export function createTokens(now: () => number) {
  const pairs = new Map<string, { access: string; endsAt: number }>();
  let count = 0;
  const self = {
    needsOtp: false,
    /** What signing in is refused with instead. */
    refusal: null as Answer | null,
    logins: 0,
    refreshes: 0,
    revoked: [] as string[],
    grant() {
      count += 1;
      const given = { accessToken: `access-${count}`, refreshToken: `refresh-${count}` };
      pairs.set(given.refreshToken, { access: given.accessToken, endsAt: now() + DAY_SECONDS * 1_000 });
      return given;
    },
    expireAll() {
      for (const pair of pairs.values()) pair.endsAt = now();
    },
    forgetAll: () => pairs.clear(),
    isLive(header: string | undefined): boolean {
      const token = /^Bearer (.+)$/.exec(header ?? "")?.[1];
      return [...pairs.values()].some(({ access, endsAt }) => access === token && endsAt > now());
    },
    client: (): Answer => json(CLIENT),
    answer(form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>): Answer {
      if (form["client_id"] !== CLIENT.client_id || form["client_secret"] !== CLIENT.client_secret)
        return problem(400, "invalid_client", "Invalid client: client is invalid");
      if (form["grant_type"] === "refresh_token") return refresh(form["refresh_token"] ?? "");
      self.logins += 1;
      if (self.refusal !== null) return self.refusal;
      if (form["username"] !== PERSON.username || form["password"] !== PERSON.password)
        return problem(400, "invalid_grant", "Invalid grant: user credentials are invalid");
      const otp = headers["x-peertube-otp"];
      if (self.needsOtp && otp === undefined)
        return problem(401, "missing_two_factor", "Missing two factor header");
      if (self.needsOtp && otp !== OTP)
        return problem(400, "invalid_two_factor", "Invalid two factor header");
      return pairAnswer();
    },
    revoke(header: string): Answer {
      const found = [...pairs].find(([, { access }]) => `Bearer ${access}` === header);
      if (found === undefined) return problem(401, "invalid_token", "Token is invalid");
      pairs.delete(found[0]);
      self.revoked.push(found[1].access);
      return json({ success: true });
    },
  };

  function refresh(token: string): Answer {
    self.refreshes += 1;
    if (!pairs.delete(token)) return problem(400, "invalid_grant", "Invalid grant: refresh token is invalid");
    return pairAnswer();
  }

  function pairAnswer(): Answer {
    const { accessToken, refreshToken } = self.grant();
    return json({
      token_type: "Bearer",
      access_token: accessToken,
      refresh_token: refreshToken,
      expires_in: DAY_SECONDS,
      refresh_token_expires_in: 14 * DAY_SECONDS,
    });
  }
  return self;
}
