import { AppError } from "../../domain/errors.ts";
import { DAY } from "../../domain/time.ts";
import type {
  Connected,
  ConnectInput,
  ConnectIo,
  OAuthWay,
  RenewalIo,
  Secrets,
  SecretsWay,
  SetupGuide,
  Target,
} from "../../ports/connect.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { definePlatform } from "../../ports/platform.ts";
import { API, askWith, ME, type User, UserAnswer } from "./api.ts";
import { analytics, insights, inspect, remove } from "./live.ts";
import { CAPABILITIES, capabilitiesOf, checkPost, GATED, XMetadata, toText } from "./metadata.ts";
import { measure } from "../shared/twitter-text.ts";
import { publish } from "./publish.ts";
import { secretField } from "../shared/connect.ts";
import { USUAL_CONSENT } from "../shared/consent.ts";

const REVOKE_URL = `${API}/2/oauth2/revoke`;

const SETUP: SetupGuide = {
  url: "https://console.x.com",
  needs: [
    "Money. Posting costs credits. X's prices of August 2026: $0.015 a post, $0.20 a post with a web address in it, $0.005 for each alternative text. Each post of a thread counts. Looking up a post costs $0.005, the account $0.010 (once a day).",
    "A quarter of an hour. No review is needed.",
  ],
  steps: [
    "Sign in at https://console.x.com with the X account that is to own the app.",
    "Accept the developer agreement.",
    "Create an app.",
    "Open its user authentication settings.",
    'Set the app permissions to "Read and write".',
    'Set the type to "Web App" (which has a secret) or "Native App" (which has none).',
    "Enter exactly {redirectUrl} as callback address, and any address of yours as website. Then save.",
    "Copy the OAuth 2.0 client id into POSTHORN_X_CLIENT_ID and, of a web app, the client secret into POSTHORN_X_CLIENT_SECRET.",
    "Buy credits under Billing, and set a spending limit.",
  ],
  warnings: [
    "After a lost answer Posthorn lists the channel's latest posts before it sends anything again, which costs $0.001 for each post that is listed.",
    "Without credits nothing is posted: posts wait and say so until credits are bought.",
    "X limits apps of its pay-per-use plan. A post may have one cashtag. A post that mentions a person may be refused. Quotes need an Enterprise plan: where the app has one, set POSTHORN_X_PLAN to enterprise. Else put the address of the post into the text, which shows it, too. Replies are allowed only to people who mentioned the channel, and Posthorn makes none but those of a thread.",
    "Texts of more than 280 characters and videos of more than 140 seconds need an account with X Premium. Posthorn cannot edit posts on X.",
  ],
};

const SCOPES = ["tweet.read", "tweet.write", "users.read", "media.write", "offline.access"] as const;

/** Signing in with X. */
const OAUTH: OAuthWay = {
  ...USUAL_CONSENT,
  name: "oauth",
  label: "Sign in with X",
  instructions: "Sign in to the X account that is to be connected and allow the app to post.",
  setup: SETUP,
  endpoints: {
    authorize: "https://x.com/i/oauth2/authorize",
    token: `${API}/2/oauth2/token`,
    revoke: REVOKE_URL,
  },
  scopes: SCOPES,
  neededScopes: SCOPES,
  pkce: "S256",
  // An app without a secret names itself in the body.
  clientAuth: "basic",
  redirect: "no-localhost",
  // A refresh token lasts about half a year.
  renewal: { beforeMs: 0, everyMs: 30 * DAY, isSingleUse: true },
  revoke,
  async targets({ secrets }, io) {
    const { data } = await askWith(io, { secrets }, ME, UserAnswer);
    return [targetOf(data, {})];
  },
};

async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  const { clientId, clientSecret } = io.app;
  const pair = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(":");
  // With the refresh token its access tokens end.
  const token = (secrets["refreshToken"] ?? "") || (secrets["accessToken"] ?? "");
  await io.request({
    method: "POST",
    url: io.setting("REVOKE_URL") ?? REVOKE_URL,
    ...(clientSecret === ""
      ? { form: { token, client_id: clientId } }
      : {
          form: { token },
          headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` },
        }),
  });
}

const KEYS_PLACE = "the app's Keys and tokens at https://console.x.com";

/** The keys of an app of the person's own, which act for the account that owns it. */
const KEYS: SecretsWay = {
  kind: "secrets",
  name: "keys",
  label: "Four keys of your own app",
  instructions: `Under ${KEYS_PLACE}, make an API key and an access token with "Read and write" permission. Each has a secret, so there are four. They post as the account that owns the app, cost that app's credits and do not expire.`,
  fields: [
    secretField("apiKey", "API key", `From ${KEYS_PLACE}.`),
    secretField("apiSecret", "API key secret", "Shown beside the API key, once."),
    secretField(
      "accessToken",
      "Access token",
      "Made below the API key. It begins with the account's number.",
    ),
    secretField("accessSecret", "Access token secret", "Shown beside the access token, once."),
  ],
  renewal: null,
  connect: connectWithKeys,
};

const KEYS_NAMES = ["apiKey", "apiSecret", "accessToken", "accessSecret"] as const;

async function connectWithKeys(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const secrets = Object.fromEntries(KEYS_NAMES.map((name) => [name, (input.secrets[name] ?? "").trim()]));
  try {
    const { data } = await askWith(io, { secrets }, ME, UserAnswer);
    return { tokens: null, targets: [targetOf(data, secrets)] };
  } catch (cause) {
    if (!(cause instanceof PlatformFault) || cause.kind !== "auth") throw cause;
    throw new AppError(
      "invalid",
      `apiKey: X refused the four keys together. Copy all of them again from ${KEYS_PLACE}, and check that the clock of Posthorn's server is right.`,
      { cause },
    );
  }
}

function targetOf(user: User, secrets: Secrets): Target {
  return {
    platformAccountId: user.id,
    name: user.name === "" ? user.username : user.name,
    handle: user.username,
    profileUrl: `https://x.com/${user.username}`,
    avatarUrl: user.profile_image_url,
    settings: {},
    secrets,
  };
}

export default definePlatform({
  name: "x",
  title: "X",
  aliases: ["twitter"],
  docs: "https://docs.x.com/x-api/posts/create-post",
  baseUrl: API,
  capabilities: CAPABILITIES,
  capabilitiesOf,
  metadata: XMetadata,
  settings: [
    {
      name: "CLIENT_SECRET",
      meaning: "Secret of the app that you registered. A native app has none",
      kind: "secret",
      default: null,
      isRequired: false,
    },
    {
      name: "PLAN",
      meaning: "The plan of the app at X. Only with enterprise does X take quotes",
      kind: "text",
      values: ["self-serve", "enterprise"],
      default: "self-serve",
      isRequired: false,
    },
  ],
  gated: GATED,
  connect: [OAUTH, KEYS],
  check: checkPost,
  preview: () => ({ write: toText }),
  measure,
  inspect,
  publish,
  insights,
  analytics,
  results: {
    price: "Each reading costs: $0.005 a post, four times, and $0.010 a channel and day (August 2026).",
  },
  remove,
});
