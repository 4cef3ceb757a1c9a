import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import type { Inspection } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { publicKeyOf, signerOf } from "./event.ts";
import { KEY_PLACE, secretIn } from "./key.ts";
import { encodeName } from "./names.ts";
import { npubOf, readProfile } from "./profile.ts";
import { webUrl } from "./publish.ts";
import { ownSign, relaysIn, relaysOf, usualRelays } from "./relays.ts";

export const NSEC: SecretsWay = {
  kind: "secrets",
  name: "nsec",
  label: "Private key",
  fields: [
    {
      name: "nsec",
      label: "Private key",
      help: `It begins with nsec1. ${KEY_PLACE}`,
      isRequired: true,
      isSecret: true,
    },
    {
      name: "relays",
      label: "Relays",
      help: "Addresses that begin with wss://, separated by spaces. Leave it empty to post to those of your own list.",
      isRequired: false,
      isSecret: false,
    },
  ],
  instructions:
    `Enter the account's private key. ${KEY_PLACE} It is kept encrypted and signs only on this server. ` +
    "It can do everything with the account and cannot be revoked or changed. A key made only for this " +
    "purpose may be better. Nostr asks for no review and no fee.",
  renewal: null,
  connect,
};

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const secret = secretIn(input.secrets["nsec"] ?? "");
  const given = (input.secrets["relays"] ?? "").trim();
  const named = relaysIn(given);
  if (given !== "" && named.length === 0)
    throw new AppError(
      "invalid",
      "relays: has no address of a relay. Give some, for example wss://relay.example.com.",
    );
  const [pubkey, relays] = [publicKeyOf(secret), named.length > 0 ? named : usualRelays(io)];
  const profile = await readProfile(io, { relays, pubkey, sign: signerOf(secret) });
  if (profile.answered.length === 0) throw new AppError("unavailable", `relays: ${noneAnswers(relays)}`);
  const npub = npubOf(pubkey);
  return {
    tokens: null,
    targets: [
      {
        platformAccountId: pubkey,
        name: input.name ?? profile.name ?? profile.handle,
        handle: profile.handle,
        profileUrl: `${webUrl(io)}/${npub}`,
        avatarUrl: profile.avatarUrl,
        settings: { relays: named },
        secrets: { nsec: encodeName("nsec", Buffer.from(secret, "hex")), relays: named.join(" ") },
      },
    ],
  };
}

function noneAnswers(relays: readonly string[]): string {
  return `none of ${relays.join(", ")} answers. Reconnect the channel with others, or try again later.`;
}

/** Who the account is now, and where its posts and files go. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const pubkey = io.account.platformAccountId ?? "";
  const relays = relaysOf(io);
  const { name, handle, avatarUrl, limits, answered } = await readProfile(io, {
    // The list of relays may be known to the usual ones alone.
    relays: [...new Set([...relays, ...usualRelays(io)])],
    pubkey,
    sign: ownSign(io),
  });
  if (answered.length === 0) return { problem: `Posthorn cannot post to any relay: ${noneAnswers(relays)}` };
  return { ...(name === null ? {} : { name }), handle, avatarUrl, limits, problem: null };
}
