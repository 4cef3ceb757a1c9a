import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Connected, ConnectInput, ConnectIo, Secrets, SecretsWay, Tokens } from "../../ports/connect.ts";
import type { Inspection } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { byStatus, faultsBy, naming } from "../shared/faults.ts";
import { call, callWith, Id, TOKEN_URL } from "./api.ts";

const KEY_PLACE =
  "In Dailymotion Studio, as owner or admin of the organization: Organization, API keys, Create API key, Private API key.";

const SCOPES = "account.read video.read video.manage";

const Token = z.looseObject({ access_token: z.string().min(1), expires_in: z.coerce.number().catch(1_800) });

const refusals = faultsBy({
  title: "Dailymotion",
  codesOf: () => [],
  rules: byStatus("auth", {
    "400 401 403": `Dailymotion does not accept the key and its secret, or the key lacks a permission. ${KEY_PLACE} It needs the permissions to read the account and to read and manage videos.`,
  }),
});

/** A token for half an hour, as often as it is wanted. */
async function askForToken({ apiKey = "", apiSecret = "" }: Secrets, io: ConnectIo): Promise<Tokens> {
  const fields = { client_id: apiKey, client_secret: apiSecret, scope: SCOPES };
  const { access_token: accessToken, expires_in: seconds } = await io.ask(
    {
      method: "POST",
      url: io.setting("TOKEN_URL") ?? TOKEN_URL,
      form: { grant_type: "client_credentials", ...fields },
      isIdempotent: true,
      classify: refusals,
    },
    Token,
  );
  return {
    secrets: { apiKey, apiSecret, accessToken },
    expiresAt: io.now() + seconds * SECOND,
    renewableUntil: null,
    scopes: SCOPES.split(" "),
    answer: {},
  };
}

const Me = z.looseObject({
  profiles: z.array(z.looseObject({ profile_id: Id, name: z.string().catch("") })).default([]),
});

const ME = { path: "/me" };

/** Each channel that the key is good for. */
async function connect({ secrets }: ConnectInput, io: ConnectIo): Promise<Connected> {
  const tokens = await naming("apiSecret", () => askForToken(secrets, io));
  const { profiles } = await naming("apiKey", () => callWith(io, tokens, ME, Me));
  if (profiles.length === 0)
    throw new AppError("invalid", `apiKey: gives access to no channel. ${KEY_PLACE}`);
  const targets = profiles.map(({ profile_id: id, name }) => ({
    platformAccountId: id,
    name: name === "" ? id : name,
    handle: name === "" ? null : name,
    profileUrl: `https://www.dailymotion.com/${encodeURIComponent(name === "" ? id : name)}`,
    avatarUrl: null,
    settings: {},
    secrets: {},
  }));
  return { tokens, targets };
}

export async function inspect(io: PlatformIo): Promise<Inspection> {
  const { profiles } = await call(io, ME, Me);
  const found = profiles.find(({ profile_id: id }) => id === io.account.platformAccountId);
  if (found === undefined)
    return {
      problem: "The API key no longer gives access to this channel. Make one that does, and reconnect.",
    };
  return { ...(found.name === "" ? {} : { name: found.name, handle: found.name }), problem: null };
}

const field = { isRequired: true, isSecret: true } as const;

export const KEY: SecretsWay = {
  kind: "secrets",
  name: "key",
  label: "API key",
  instructions: `${KEY_PLACE} Give it the permissions to read the account and to read and manage videos, and copy both. The secret is shown once. It needs no review. Most channels may upload 15 videos and 10 hours of video in 24 hours. Each may have at most 2 hours and 4 GB.`,
  fields: [
    { ...field, name: "apiKey", label: "API key", help: KEY_PLACE, isSecret: false },
    { ...field, name: "apiSecret", label: "API secret", help: "It is shown when the key is made." },
  ],
  renewal: { beforeMs: 0, isSingleUse: false, renew: askForToken },
  connect,
};
