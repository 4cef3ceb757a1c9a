import * as z from "zod";
import { HOUR, SECOND } from "../../domain/time.ts";
import type { OAuthWay, RenewalIo, Secrets, SetupGuide, Tokens } from "../../ports/connect.ts";
import { faultsBy } from "../shared/faults.ts";
import { AnyAnswer, API, callWith, codesOf } from "./api.ts";
import { targets } from "./connect.ts";
import { NEEDED_SCOPES, SCOPES } from "./scopes.ts";

const SETUP: SetupGuide = {
  url: "https://api.slack.com/apps",
  needs: [
    "Five minutes. It costs nothing, and needs no review within your own workspace. In some workspaces an administrator must approve an app.",
    "An https redirect address. Without one, connect with the bot token, which needs none.",
  ],
  steps: [
    "Open https://api.slack.com/apps, choose Create New App, From scratch, and the workspace to develop it in.",
    "Under OAuth & Permissions, add the redirect URL {redirectUrl}.",
    "On the same page, add these Bot Token Scopes: {scopes}.",
    "Under Basic Information, copy Client ID and Client Secret into POSTHORN_SLACK_CLIENT_ID and POSTHORN_SLACK_CLIENT_SECRET.",
    "For people of other workspaces, activate public distribution under Manage Distribution.",
    "Connect, and invite the app to each channel it posts to: /invite and its name.",
  ],
  warnings: [
    "A bot that is not in a channel can post texts to public ones, but no files. It also cannot check whether a post arrived when an answer was lost.",
    "Apps that are distributed outside of Slack's Marketplace may read a channel's messages once a minute, 15 at a time. This limit does not apply to apps of your own workspace.",
    "Slack takes about one message a second in each channel.",
  ],
};

const TOKEN_URL = `${API}/oauth.v2.access`;

export const consent: OAuthWay = {
  kind: "oauth",
  name: "oauth",
  label: "Add to Slack",
  instructions: "Choose the workspace in Slack and allow Posthorn's app. Then choose the channels.",
  setup: SETUP,
  endpoints: { authorize: "https://slack.com/oauth/v2/authorize", token: TOKEN_URL },
  scopes: SCOPES,
  neededScopes: NEEDED_SCOPES,
  scopeSeparator: ",",
  pkce: "none",
  clientAuth: "body",
  redirect: "https",
  instance: "no",
  // Tokens end, after 12 hours, where the app has token rotation switched on.
  renewal: { beforeMs: 2 * HOUR, isSingleUse: true, renew },
  revoke: async ({ accessToken = "" }, io) => {
    await callWith(io, accessToken, { method: "auth.revoke", isIdempotent: true }, AnyAnswer);
  },
  targets,
};

const Renewed = AnyAnswer.extend({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  expires_in: z.coerce.number().positive(),
  scope: z.string().optional(),
});

/**
 * A token without rotation has nothing to be renewed with. Where Slack refuses a call for one channel's sake,
 * it is still good: whoever asks learns that, and the consent's other channels go on.
 */
async function renew(secrets: Secrets, io: RenewalIo): Promise<Tokens> {
  const { accessToken = "", refreshToken = "" } = secrets;
  if (refreshToken === "") {
    await callWith(io, accessToken, { method: "auth.test", form: {}, isIdempotent: true }, AnyAnswer);
    return { secrets, expiresAt: null, renewableUntil: null, scopes: null, answer: {} };
  }
  const { clientId, clientSecret } = io.app;
  const answer = await io.ask(
    {
      method: "POST",
      url: io.setting("TOKEN_URL") ?? TOKEN_URL,
      form: {
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        client_id: clientId,
        client_secret: clientSecret,
      },
      classify: refusedRenewal,
    },
    Renewed,
  );
  return {
    secrets: { accessToken: answer.access_token, refreshToken: answer.refresh_token },
    expiresAt: io.now() + answer.expires_in * SECOND,
    renewableUntil: null,
    scopes: answer.scope === undefined ? null : answer.scope.split(","),
    answer: {},
  };
}

const refusedRenewal = faultsBy({
  title: "Slack",
  codesOf,
  rules: [
    {
      code: ["ratelimited", "rate_limited"],
      kind: "rate",
      isNotDone: true,
      message: "Slack asks to slow down.",
    },
    {
      code: ["invalid_client_id", "bad_client_secret"],
      kind: "setup",
      message:
        "POSTHORN_SLACK_CLIENT_ID and POSTHORN_SLACK_CLIENT_SECRET: Slack does not accept them. Copy both again from the app's Basic Information.",
    },
    {
      code: ["internal_error", "fatal_error", "service_unavailable", "request_timeout"],
      kind: "ambiguous",
      message: "Slack has a problem of its own.",
    },
    {
      code: ["invalid_refresh_token", "token_revoked", "invalid_auth", "account_inactive", "invalid_grant"],
      kind: "auth",
      message: "Slack does not renew the bot's access any more. Add the app to the workspace again.",
    },
  ],
});
