import type * as z from "zod";
import type { JsonObject, PlatformAccount, PlatformIo, PlatformRequest } from "./platform-io.ts";

/** Named texts that are kept sealed: accessToken, refreshToken, botToken, … */
export type Secrets = Readonly<Record<string, string>>;

/** What connecting gets: no account yet, so no tokens. */
export interface ConnectIo extends Omit<
  PlatformIo,
  "account" | "authorized" | "remember" | "request" | "ask" | "resultOf"
> {
  request(request: PlatformRequest): ReturnType<PlatformIo["request"]>;
  ask<T>(request: PlatformRequest, schema: z.ZodType<T>): Promise<T>;
}

/** What a consent, or signing in, gave for all channels that came of it. */
export interface Tokens {
  /** Kept sealed with the grant; one that is empty leaves the stored one in place. */
  readonly secrets: Secrets;
  /** When the access token ends, in milliseconds since 1970; null: it does not, or that is not known. */
  readonly expiresAt: number | null;
  /** Until when it can be renewed without the person; null: no end is known. */
  readonly renewableUntil: number | null;
  /** What was allowed; null where the platform does not tell. */
  readonly scopes: readonly string[] | null;
  /** The rest of the platform's answer: whose consent it is, which team. Not stored. */
  readonly answer: JsonObject;
}

/** A channel that a connection found: an account, a Page, a blog, a chat. */
export interface Target {
  readonly platformAccountId: string;
  /** The server whose id that is, where each has its own; left out where ids are the same everywhere. */
  readonly idServer?: string;
  readonly name: string;
  readonly handle: string | null;
  readonly profileUrl: string | null;
  readonly avatarUrl: string | null;
  /** What need not be hidden: `instanceUrl` (given again when it is reconnected), a team, a kind. */
  readonly settings: JsonObject;
  /** Its own, beside those of the grant: a Page's token, an address to post to. */
  readonly secrets: Secrets;
  /** Why it cannot be posted to ("You may not create content on this Page."); it is shown and not chosen. */
  readonly problem?: string;
  /** Shown to the person once, on the page or the terminal where they connected. */
  readonly notice?: string;
  /** A secret that we made: shown once after the notice, which says what it is for, and nowhere again. */
  readonly shownOnce?: string;
}

export interface Connected {
  /** Null where there is nothing to renew and nothing that channels share. */
  readonly tokens: Tokens | null;
  readonly targets: readonly Target[];
}

/** Keeps tokens alive. */
export interface Renewal {
  /** How long before `expiresAt` they are renewed, in milliseconds. */
  readonly beforeMs: number;
  /** Renewed at least this often, also when nothing is posted, for tokens that die of idleness. */
  readonly everyMs?: number;
  /** The refresh token can be used once: an answer that is lost may have used it up. */
  readonly isSingleUse: boolean;
  /** Left out with OAuth: the standard refresh request. Throws an `auth` fault when the platform refuses. */
  renew?(secrets: Secrets, io: RenewalIo): Promise<Tokens>;
}

/** What a person does at the platform before it can be connected; {redirectUrl} and {scopes} are filled in. */
export interface SetupGuide {
  /** Where the person begins. */
  readonly url: string;
  /** What a person must know before the first step: an audit, money, days. Default: nothing. */
  readonly needs?: readonly string[];
  readonly steps: readonly string[];
  /** What works without a review, limits, quirks. */
  readonly warnings: readonly string[];
}

/** The app that is registered at the platform; "" for what it has not. */
export interface App {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Where a consent is asked for, and comes back to. */
export interface Place {
  /** The server of a platform that has many. */
  readonly instanceUrl: string | null;
  readonly redirectUrl: string;
}

export type OAuthIo = ConnectIo & { readonly app: App; readonly place: Place };

/** `account`: one of the grant's channels. `app` and `place` hold "" where the way is not OAuth. */
export type RenewalIo = OAuthIo & { readonly account: PlatformAccount };

interface Way {
  /** Names it in `connect_channel`, `--way` and `list_platforms`: oauth, token, bot, webhook. */
  readonly name: string;
  /** For a person who chooses: "Sign in with Google", "Bot token". */
  readonly label: string;
  /** What the person does, shown on the page and in the tool's answer: it says neither "here" nor "below". */
  readonly instructions: string;
  /** The same in steps, where it is long; the page numbers them. */
  readonly steps?: readonly string[];
  /** What the steps have one copy, with a button for it on the page. */
  readonly toCopy?: string;
}

/** Connects at once. */
export interface NoneWay extends Way {
  readonly kind: "none";
  connect(input: ConnectInput, io: ConnectIo): Promise<Connected>;
}

/**
 * A page of the platform's that gives one of the secrets: our page opens it in a window, which tells its opener a
 * message of this key (`postMessage`), and fills the field in. No script of the platform's runs in our page.
 */
export interface WindowSignIn {
  /** Names the button: "Sign in with Neynar". */
  readonly label: string;
  /** Of `SecretsWay.fields`. */
  readonly field: string;
  readonly messageKey: string;
  /** Null: it is not set up, and the person enters the field. */
  url(io: Pick<ConnectIo, "setting">): string | null;
}

/** The person enters secrets on our page. */
export interface SecretsWay extends Way {
  readonly kind: "secrets";
  readonly signIn?: WindowSignIn;
  /** `required`: each channel has a server of its own. Default: no. */
  readonly instance?: "required";
  /** Path on the channel's own server where the person gets what is asked for. */
  readonly place?: `/${string}`;
  readonly fields: readonly SecretField[];
  readonly renewal: Renewal | null;
  /** Checks the secrets with the platform. Throws `AppError` `invalid` naming the field that is wrong. */
  connect(input: ConnectInput, io: ConnectIo): Promise<Connected>;
  /** Gives the tokens back when the last channel of the grant is disconnected; best effort. */
  revoke?(secrets: Secrets, io: RenewalIo): Promise<void>;
}

export interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly revoke?: string;
  /** What this server knows of PKCE, where servers differ; default: as the way says. */
  readonly pkce?: OAuthWay["pkce"];
}

type AuthorizeParams = Readonly<Record<string, string | null>>;

/** How an app's id and secret are tried when they are entered, long before a person consents. */
interface AppTrial {
  /** With a code that is made up, or for the app itself. */
  readonly grant: "authorization_code" | "client_credentials";
  /** Default: as tokens are asked for. */
  readonly method?: "GET";
  /** The code may be looked at before the app: then an answer proves nothing that does not refuse the app. */
  readonly provesOnlyRefusal?: true;
}

/** OAuth 2.0, authorization code; what a platform does otherwise than the standard is data. */
export interface OAuthWay extends Way {
  readonly kind: "oauth";
  /** What is registered before it can be used; null where it registers itself. */
  readonly setup: SetupGuide | null;
  /** A function: asked of the server (Mastodon, Matrix). */
  readonly endpoints: Endpoints | ((io: ConnectIo, place: Place) => Endpoints | Promise<Endpoints>);
  /** Whose CLIENT_ID and CLIENT_SECRET are used; default: the platform's own. */
  readonly appOf?: string;
  /** Before CLIENT_ID, CLIENT_SECRET and SCOPES of an app of its own: PAGE_ makes PAGE_CLIENT_ID. */
  readonly settingPrefix?: `${Uppercase<string>}_`;
  /** Before SCOPES alone, where another way of the platform has that name; default: `settingPrefix`. */
  readonly scopesPrefix?: `${Uppercase<string>}_`;
  /** Registers an app at the server; kept per server and redirect address, made anew when it is not known. */
  register?(place: Place, io: ConnectIo): Promise<App>;
  /**
   * What publishing needs. A scope that is added here breaks each app that was registered before: it belongs
   * into a way that asks for more (`askingMore`).
   */
  readonly scopes: readonly string[];
  /** Without which it does not work: people may untick scopes. Default: none is checked. */
  readonly neededScopes?: readonly string[];
  readonly scopeSeparator: " " | ",";
  /** `hex-at-home`: in hexadecimal, and only where the redirect address is not https. */
  readonly pkce: "S256" | "none" | "hex-at-home";
  readonly clientAuth: "body" | "basic" | "none";
  /** What the client's id is called in requests; default: client_id. */
  readonly clientIdName?: string;
  /** Default: POST with a form. */
  readonly tokenMethod?: "GET" | "POST";
  /** A function: out of settings. Null takes one away that is usually there (`scope`). */
  readonly authorizeParams?: AuthorizeParams | ((io: Pick<ConnectIo, "setting">) => AuthorizeParams);
  readonly tokenParams?: Readonly<Record<string, string>>;
  /** Sent with each request for tokens, out of settings: the name by which a platform knows its callers. */
  readonly tokenHeaders?: (io: Pick<ConnectIo, "setting" | "publicUrl">) => Readonly<Record<string, string>>;
  /**
   * Redirect addresses that it takes. `https`: only https; `https-or-home`: also this computer's own;
   * `no-localhost`: not http://localhost.
   */
  readonly redirect: "any" | "https" | "https-or-home" | "no-localhost";
  readonly instance: "required" | "no";
  /** Default: a token is asked for with a code that is made up. */
  readonly tryApp?: AppTrial;
  /** Where the answer is not as in RFC 6749: Instagram's { data: [ … ] }, Slack's authed_user. */
  readTokens?(answer: JsonObject, now: number): Tokens;
  /** Exchanges a token of an hour for one of months, right after the consent. */
  lengthen?(tokens: Tokens, io: OAuthIo): Promise<Tokens>;
  readonly renewal: Renewal | null;
  revoke?(secrets: Secrets, io: RenewalIo): Promise<void>;
  /** All channels that the consent is good for. */
  targets(tokens: Tokens, io: OAuthIo): Promise<readonly Target[]>;
}

/** The person is sent to the platform and comes back, by other rules than OAuth's (MiAuth, WordPress). */
export interface RedirectWay extends Way {
  readonly kind: "redirect";
  readonly instance: "required" | "no";
  readonly redirect: "any" | "https";
  /** `keep` comes back at `finish`, sealed meanwhile. */
  begin(input: ConnectInput, place: Place, io: ConnectIo): Promise<{ url: string; keep: JsonObject }>;
  /** `answer`: the parameters that the person came back with. */
  finish(
    answer: Readonly<Record<string, string>>,
    at: { readonly keep: JsonObject; readonly place: Place },
    io: ConnectIo,
  ): Promise<Connected>;
}

export type ConnectWay = NoneWay | SecretsWay | OAuthWay | RedirectWay;

export interface SecretField {
  readonly name: string;
  readonly label: string;
  /** Where to find it, in one sentence. */
  readonly help: string;
  readonly isRequired: boolean;
  /** Hidden while typed, and never shown once it is stored. */
  readonly isSecret: boolean;
  /** Secret once it is stored, yet seen while typed: long addresses, which cannot be typed unseen. */
  readonly isSeen?: true;
}

export interface ConnectInput {
  readonly instanceUrl: string | null;
  readonly handle: string | null;
  readonly name: string | null;
  readonly secrets: Secrets;
  /** The account that is being reconnected: its stored secrets stand in for those left empty. */
  readonly reconnecting: PlatformAccount | null;
}
