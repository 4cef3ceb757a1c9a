import * as z from "zod";
import { DAY, HOUR, SECOND } from "../../../domain/time.ts";
import type { ConnectIo, OAuthIo, OAuthWay, Renewal, Tokens } from "../../../ports/connect.ts";
import { PlatformFault, type JsonObject, type PlatformRequest } from "../../../ports/platform-io.ts";
import { metaFaults } from "./faults.ts";

/** Meta ends long-lived tokens after 60 days, and says so in seconds; page tokens and some others have no end. */
const Token = z.looseObject({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
});

type LongLived = z.infer<typeof Token>;

function tokensOf({ access_token: accessToken, expires_in: seconds }: LongLived, now: number): Tokens {
  const expiresAt = seconds === undefined ? null : now + seconds * SECOND;
  return {
    secrets: { accessToken },
    expiresAt,
    // Only a token that is alive can be renewed.
    renewableUntil: expiresAt,
    scopes: null,
    answer: {},
  };
}

const Named = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .catch(null);
const ShortLived = z.looseObject({ access_token: z.string().min(1), permissions: Named });
const Wrapped = z.looseObject({ data: z.tuple([ShortLived]).rest(z.unknown()) });

/** The first token, of an hour or two: bare, or alone in a list as Instagram documents it. */
export function readShortLived(answer: JsonObject, now: number): Tokens {
  const read = z.union([Wrapped.transform(({ data: [first] }) => first), ShortLived]).safeParse(answer);
  if (!read.success) throw new PlatformFault("ambiguous", "The platform's answer holds no token.");
  const { access_token: accessToken, permissions } = read.data;
  const scopes = [permissions ?? []].flat().flatMap((scope) => scope.split(","));
  return {
    secrets: { accessToken },
    expiresAt: now + HOUR,
    renewableUntil: null,
    scopes: scopes.length === 0 ? null : scopes,
    answer: {},
  };
}

/** A request for a token, which names the secrets in its query as Meta has it. */
interface TokenCall {
  readonly title: string;
  readonly url: string;
  readonly query: NonNullable<PlatformRequest["query"]>;
}

async function askForToken(io: ConnectIo, { title, url, query }: TokenCall): Promise<Tokens> {
  const classify = metaFaults(title);
  const answer = await io.ask({ method: "GET", url, query, classify }, Token);
  return tokensOf(answer, io.now());
}

/** What an API calls its exchange of tokens: `ig`, `th` for Instagram and Threads. */
export interface TokenHost {
  readonly title: string;
  readonly prefix: "ig" | "th";
  /** Without a version and without a slash at its end. */
  base(io: Pick<ConnectIo, "setting">): string;
}

/** One token of an hour for one of 60 days, right after the consent: an expired one cannot be exchanged. */
export function exchangeAt({ title, prefix, base }: TokenHost): NonNullable<OAuthWay["lengthen"]> {
  return async (tokens, io) => {
    const query = {
      grant_type: `${prefix}_exchange_token`,
      client_secret: io.app.clientSecret,
      access_token: tokens.secrets["accessToken"],
    };
    const long = await askForToken(io, { title, url: `${base(io)}/access_token`, query });
    return { ...long, scopes: tokens.scopes, answer: tokens.answer };
  };
}

/**
 * Renews the token by itself, which works while it lives and from its second day on. Weekly, so that weeks
 * may go by without a connection.
 */
export function renewAtHost({ title, prefix, base }: TokenHost): Renewal {
  return {
    beforeMs: 30 * DAY,
    everyMs: 7 * DAY,
    // The one before goes on being good.
    isSingleUse: false,
    renew: (secrets, io) =>
      askForToken(io, {
        title,
        url: `${base(io)}/refresh_access_token`,
        query: { grant_type: `${prefix}_refresh_token`, access_token: secrets["accessToken"] },
      }),
  };
}

/** Facebook's exchange of a user token for one of 60 days; there is no renewal. `base` with its version. */
export async function exchangeAtFacebook(tokens: Tokens, io: OAuthIo, base: string): Promise<Tokens> {
  const query = {
    grant_type: "fb_exchange_token",
    client_id: io.app.clientId,
    client_secret: io.app.clientSecret,
    fb_exchange_token: tokens.secrets["accessToken"],
  };
  const long = await askForToken(io, { title: "Facebook", url: `${base}/oauth/access_token`, query });
  return { ...long, renewableUntil: null, scopes: tokens.scopes, answer: tokens.answer };
}
