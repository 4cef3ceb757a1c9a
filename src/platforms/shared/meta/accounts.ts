import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import { DAY, HOUR, SECOND } from "../../../domain/time.ts";
import type { ConnectIo, OAuthIo, OAuthWay, Renewal, Tokens } from "../../../ports/connect.ts";
import { type JsonObject, PlatformFault, type PlatformRequest } from "../../../ports/platform-io.ts";
import type { Inspection } from "../../../ports/platform.ts";
import { Id } from "../../../ports/platform-values.ts";
import { collect } from "../pages.ts";
import { MORE, USUAL_CONSENT } from "../consent.ts";
import type { ContainerApi } from "./containers.ts";
import { GRAPH_VERSION, graphUrl, listEntries, metaFaults, proofOf } from "./graph.ts";
import { faultsBy } from "../faults.ts";

/** Who has just signed in to Facebook. */
export interface Person {
  readonly io: OAuthIo;
  readonly accessToken: string;
  /** Of the Graph API, with its version. */
  readonly base: string;
  readonly classify: NonNullable<PlatformRequest["classify"]>;
}

/** One request on the person's behalf. */
export function asPerson(
  { io, accessToken, base, classify }: Person,
  path: string,
  query: PlatformRequest["query"] = {},
) {
  return {
    method: "GET",
    url: `${base}/${path}`,
    headers: { authorization: `Bearer ${accessToken}` },
    query: { ...query, ...proofOf(io.app.clientSecret, accessToken) },
    classify,
  } as const;
}

function list<T>({ io }: Person, request: PlatformRequest, entry: z.ZodType<T>): Promise<T[]> {
  return collect(listEntries(io, request, entry, { perPage: 100 }));
}

const Permission = z.looseObject({ permission: z.string(), status: z.string() });

/** What was allowed, which the answer with the token does not tell. Throws `invalid` where some of it is missing. */
export async function readGranted(
  person: Person,
  { title, needed }: { readonly title: string; readonly needed: readonly string[] },
): Promise<string[]> {
  const all = await list(person, asPerson(person, "me/permissions"), Permission);
  const granted = all.filter(({ status }) => status === "granted").map(({ permission }) => permission);
  const missing = needed.filter((scope) => !granted.includes(scope));
  if (missing.length === 0) return granted;
  throw new AppError(
    "invalid",
    `${title} was not connected: these permissions are missing: ${missing.join(", ")}. ` +
      "Start again and leave all of them ticked.",
  );
}

/** With it the Pages of business portfolios are found. A consent without it does for the others. */
export const PORTFOLIO_SCOPE = "business_management";

export const PageEntry = z.looseObject({
  id: Id,
  /** Left out where the person may do nothing with the Page. */
  access_token: z.string().optional(),
  /** Told by me/accounts only. */
  tasks: z.array(z.string()).optional(),
});
type PageEntry = z.infer<typeof PageEntry>;

interface PageQuery<T> {
  readonly entry: z.ZodType<T>;
  /** What is asked of a Page beside its token and tasks. */
  readonly fields: string;
  /** What the person allowed. */
  readonly granted: readonly string[];
}

/**
 * All Pages that the person may have chosen. me/accounts leaves out those that they manage only by a business
 * portfolio (https://github.com/trypostit/trypost/pull/301), so portfolios are looked through, and the Pages that
 * the token names are read one by one.
 */
export async function findPages<T extends PageEntry>(person: Person, wanted: PageQuery<T>): Promise<T[]> {
  const fields = `id,access_token,${wanted.fields}`;
  const own = asPerson(person, "me/accounts", { fields: `${fields},tasks` });
  const found = new Map<string, T>();
  add(found, await list(person, own, wanted.entry));
  if (wanted.granted.includes(PORTFOLIO_SCOPE))
    add(found, await listPortfolios(person, { ...wanted, fields }));
  for (const id of await readTargetIds(person))
    if (found.get(id)?.access_token === undefined)
      add(found, await orNone(person, [person.io.ask(asPerson(person, id, { fields }), wanted.entry)]));
  return [...found.values()];
}

/** Of two copies of a Page, the one with a token is kept. */
function add<T extends PageEntry>(found: Map<string, T>, pages: readonly T[]): void {
  for (const page of pages) {
    const known = found.get(page.id);
    const isBetter = known?.access_token === undefined && page.access_token !== undefined;
    if (known === undefined) found.set(page.id, page);
    else if (isBetter) found.set(page.id, { ...page, tasks: page.tasks ?? known.tasks });
  }
}

const Portfolio = z.looseObject({ id: Id });

async function listPortfolios<T>(person: Person, { entry, fields }: PageQuery<T>): Promise<T[]> {
  const asked = list(person, asPerson(person, "me/businesses", { fields: "id" }), Portfolio);
  const pages: T[] = [];
  for (const { id } of (await orNone(person, [asked])).flat()) {
    const lists = ["owned_pages", "client_pages"].map((edge) =>
      list(person, asPerson(person, `${id}/${edge}`, { fields }), entry),
    );
    pages.push(...(await orNone(person, lists)).flat());
  }
  return pages;
}

const Described = z.looseObject({
  data: z.looseObject({
    granular_scopes: z
      .array(z.looseObject({ scope: z.string(), target_ids: z.array(Id).catch([]) }))
      .catch([]),
  }),
});

/** Pages that the token is good for by name. Where the person chose all, it names none. */
async function readTargetIds(person: Person): Promise<string[]> {
  const { io, base, accessToken, classify } = person;
  const query = {
    input_token: accessToken,
    access_token: `${io.app.clientId}|${io.app.clientSecret}`,
  };
  const request = { method: "GET", url: `${base}/debug_token`, query, classify } as const;
  const [described] = await orNone(person, [io.ask(request, Described)]);
  const scopes = described?.data.granular_scopes ?? [];
  const ofPages = scopes.filter(({ scope }) => scope.startsWith("pages_"));
  return [...new Set(ofPages.flatMap(({ target_ids: ids }) => ids))];
}

/** Without what Facebook refuses: each of these only adds to what me/accounts told. */
async function orNone<T>({ io }: Person, asked: readonly Promise<T>[]): Promise<T[]> {
  const answers = await Promise.allSettled(asked);
  return answers.flatMap((answer) => {
    if (answer.status === "fulfilled") return [answer.value];
    if (!(answer.reason instanceof PlatformFault)) throw answer.reason;
    io.log.warn({ err: answer.reason }, "Pages of business portfolios were not listed");
    return [];
  });
}

/** What may be the cause where a Page is missing. */
export function portfolioHint(granted: readonly string[]): string {
  return granted.includes(PORTFOLIO_SCOPE)
    ? ""
    : ` A Page of a business portfolio is listed only with the permission ${PORTFOLIO_SCOPE}: add it to the Meta app, and connect again by the way "${MORE}" (with business portfolios).`;
}

export function noPages(granted: readonly string[]): AppError {
  return new AppError(
    "invalid",
    "Facebook listed no Page. Sign in with an account that manages the Page, and choose the Page when Facebook asks." +
      portfolioHint(granted),
  );
}

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

/** The first token, of an hour or two: bare, or as the only one of a list as Instagram documents it. */
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

const Limit = z.looseObject({
  quota_usage: z.coerce.number().int().nonnegative(),
  config: z.looseObject({ quota_total: z.coerce.number().int().positive() }).optional(),
});

const Profile = z.looseObject({
  username: z.string().optional(),
  name: z.string().optional(),
  profile_picture_url: z.string().optional(),
  threads_profile_picture_url: z.string().optional(),
});

/** Who the account is now, and how many of its posts of a day are used. */
export async function inspectAccount(
  { ask, mild }: Pick<ContainerApi, "ask" | "mild">,
  at: {
    readonly me: string;
    readonly picture: "profile_picture_url" | "threads_profile_picture_url";
    readonly limit: string;
  },
): Promise<Inspection> {
  const profile = await ask({ path: at.me, query: { fields: `username,name,${at.picture}` } }, Profile);
  const query = { fields: "quota_usage,config" };
  const { data } = await ask({ path: at.limit, query, rules: mild }, z.looseObject({ data: z.array(Limit) }));
  const { name, username, [at.picture]: avatarUrl } = profile;
  const [limit] = data;
  return {
    ...(name === undefined ? {} : { name }),
    ...(username === undefined ? {} : { handle: username }),
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    problem: null,
    ...(limit === undefined ? {} : { quotaUse: { posts: limit.quota_usage } }),
    ...(limit?.config === undefined ? {} : { limits: { postsPerDay: limit.config.quota_total } }),
  };
}

/** A request for a token, which names the secrets in its query as Meta has it. */
interface TokenCall {
  readonly title: string;
  readonly url: string;
  readonly query: NonNullable<PlatformRequest["query"]>;
}

async function askForToken(io: ConnectIo, { title, url, query }: TokenCall): Promise<Tokens> {
  const classify = faultsBy(metaFaults(title));
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

/** How Instagram and Threads ask for a consent. */
export function signInAt(host: TokenHost) {
  return {
    ...USUAL_CONSENT,
    scopeSeparator: ",",
    redirect: "https",
    // Instagram has no token for apps, and does not say which of the two it looks at first.
    tryApp: { grant: "authorization_code", provesOnlyRefusal: true },
    readTokens: readShortLived,
    lengthen: exchangeAt(host),
    renewal: renewAtHost(host),
  } as const satisfies Partial<OAuthWay>;
}

/** One token of an hour for one of 60 days, right after the consent: an expired one cannot be exchanged. */
function exchangeAt({ title, prefix, base }: TokenHost): NonNullable<OAuthWay["lengthen"]> {
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
function renewAtHost({ title, prefix, base }: TokenHost): Renewal {
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

/** Below it stand all methods of Facebook's Graph API, whichever platform asks. */
export function facebookUrl(io: Pick<ConnectIo, "setting">): string {
  return graphUrl(io, "https://graph.facebook.com", "facebook");
}

/** How Facebook asks for a consent, for its own channels and for Instagram's. */
export const FACEBOOK_SIGN_IN = {
  ...USUAL_CONSENT,
  // Functions of a setting: its version stands in all of Meta's addresses.
  endpoints: (io: Pick<ConnectIo, "setting">) => ({
    authorize: `https://www.facebook.com/${io.setting("API_VERSION", "facebook") ?? GRAPH_VERSION}/dialog/oauth`,
    token: `${facebookUrl(io)}/oauth/access_token`,
  }),
  // A configuration stands for the permissions.
  authorizeParams: (io: Pick<ConnectIo, "setting">) => {
    const config = io.setting("LOGIN_CONFIG_ID", "facebook");
    return config === null ? {} : { scope: null, config_id: config };
  },
  scopeSeparator: ",",
  tokenMethod: "GET",
  // https://developers.facebook.com/docs/facebook-login/guides/access-tokens#apptokens
  tryApp: { grant: "client_credentials" },
} as const satisfies Partial<OAuthWay>;

/** Facebook's exchange of a user token for one of 60 days; there is no renewal. */
export async function exchangeAtFacebook(tokens: Tokens, io: OAuthIo): Promise<Tokens> {
  const query = {
    grant_type: "fb_exchange_token",
    client_id: io.app.clientId,
    client_secret: io.app.clientSecret,
    fb_exchange_token: tokens.secrets["accessToken"],
  };
  const long = await askForToken(io, {
    title: "Facebook",
    url: `${facebookUrl(io)}/oauth/access_token`,
    query,
  });
  return { ...long, renewableUntil: null, scopes: tokens.scopes, answer: tokens.answer };
}
