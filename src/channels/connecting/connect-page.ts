import { AppError } from "../../domain/errors.ts";
import type {
  NoneWay,
  Secrets,
  SecretsWay,
  ConnectWay,
  OAuthWay,
  Place,
  RedirectWay,
  WindowSignIn,
} from "../../ports/connect.ts";
import { countAttempt, noteFailure } from "../../store/queries/connections.ts";
import type { AppContext, GuestCall } from "../../context.ts";
import { describeReconnection } from "../accounts/late-posts.ts";
import {
  completeFields,
  type ConnectTarget,
  defaultsOf,
  type FormField,
  instanceOf,
  onServer,
  serverFieldOf,
  findChannels,
} from "./connect-target.ts";
import {
  type ClosedLink,
  closedNow,
  type LinkRef,
  LinkUsed,
  MAX_ATTEMPTS,
  openChoice,
  type OpenLink,
  readLink,
  minutesLeft,
} from "./connect-link.ts";
import { pickChannels } from "./store-accounts.ts";
import {
  connectChosen,
  finishLink,
  toChoice,
  type ChoiceForm,
  type ChoosingLink,
  type ConnectedLink,
} from "./finish-link.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { scopesOf, wayName } from "../../ports/platform-setup.ts";
import { findUsedApp } from "./oauth.ts";
import {
  describeWaySetup,
  missingSettings,
  readSetting,
  redirectUrlOf,
  requireConfigured,
  type WaySetup,
} from "../platform-io/set-up.ts";
import { effectiveSettings } from "../platform-io/effective-settings.ts";

/** What the page shows; no secret, and nothing that a stranger with the address could use. */
export interface ConnectForm extends LinkPage {
  readonly steps: readonly string[];
  /** What the steps have one copy. */
  readonly toCopy: string | null;
  /** Where on their own server the person gets what is asked for. */
  readonly placeUrl: string | null;
  readonly fields: readonly FormField[];
  /** A window of the platform's that fills a field in. */
  readonly signIn: WindowButton | null;
}

export interface WindowButton extends Pick<WindowSignIn, "label" | "field" | "messageKey"> {
  readonly url: string;
}

export type OpenedConnection =
  | { readonly state: "open"; readonly form: ConnectForm }
  | { readonly state: "start"; readonly start: ConsentStart }
  | ChoosingLink
  | ClosedLink;

/** What is behind a link. Opening it changes nothing: programs that preview addresses open them too. */
export async function openConnection({ ctx }: GuestCall, ref: LinkRef | string): Promise<OpenedConnection> {
  const link = await readLink(ctx, typeof ref === "string" ? { token: ref } : ref);
  if (link.state === "closed") return link;
  if (link.row.status !== "choose") return showLink(ctx, link);
  const choice = await toChoice(ctx, link, openChoice(ctx, link.row));
  return { state: "choose", choice, token: link.token };
}

async function showLink(
  ctx: AppContext,
  link: OpenLink,
): Promise<Extract<OpenedConnection, { state: "open" | "start" }>> {
  const { target } = link;
  return hasConsent(target)
    ? { state: "start", start: await toStart(ctx, { ...link, target }) }
    : { state: "open", form: await toForm(ctx, link) };
}

export type SubmissionResult =
  | ConnectedLink
  | ChoosingLink
  | {
      readonly state: "refused";
      readonly form: ConnectForm;
      readonly error: AppError;
      readonly fieldName: string | null;
    }
  | ClosedLink;

/** Connects with what a person entered. A link connects once, however often and at once it is submitted. */
export async function submitSecrets(
  call: GuestCall,
  { secrets: entered, ...ref }: LinkRef & { readonly secrets: Secrets },
): Promise<SubmissionResult> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed") return link;
  try {
    const { instanceUrl, ...fields } = entered;
    const isAsked = serverFieldOf(ctx, link.target) !== null;
    const target = onServer(ctx, link.target, instanceUrl);
    const secrets = await completeFields(ctx, target, isAsked ? fields : entered);
    const counted = await ctx.store.write((tx) =>
      countAttempt(tx, link.row.id, { now: ctx.clock.now(), maxAttempts: MAX_ATTEMPTS }),
    );
    if (counted === undefined) {
      // It takes no secrets now: it is closed, or a person chooses by now.
      const opened = await openConnection(call, ref);
      return opened.state === "choose" ? opened : await closedNow(ctx, ref);
    }
    return await connectOnce(call, { ...link, target, row: counted }, secrets);
  } catch (error) {
    if (error instanceof LinkUsed) return await closedNow(ctx, ref);
    if (!(error instanceof AppError)) throw error;
    const form = await toForm(ctx, link);
    // Sentences begin with the name of the field they are about.
    const field = form.fields.find(({ name }) => error.message.startsWith(`${name}: `));
    return { state: "refused", form, error, fieldName: field?.name ?? null };
  }
}

async function connectOnce(
  call: GuestCall,
  link: OpenLink,
  secrets: Secrets,
): Promise<ConnectedLink | ChoosingLink> {
  const { row, target } = link;
  try {
    const found = await findChannels(call, assertSecrets(target), secrets);
    return await finishLink(call, link, { found, isElsewhere: false });
  } catch (error) {
    if (error instanceof AppError) {
      const failure = { error: error.message, isLast: row.attempts >= MAX_ATTEMPTS };
      await call.ctx.store.write((tx) => noteFailure(tx, row.id, failure));
    }
    throw error;
  }
}

/** Narrows the target; throws `invalid` for a way that goes over the platform's own page. */
export function assertSecrets(target: ConnectTarget): ConnectTarget & { readonly way: NoneWay | SecretsWay } {
  const { way } = target;
  if (way.kind === "none" || way.kind === "secrets") return { ...target, way };
  throw new AppError(
    "invalid",
    `This way (${way.name}) connects ${target.platform.title} on its own page, not with secrets.`,
  );
}

/** Connects the channels of these keys. */
export async function submitChoice(
  call: GuestCall,
  { keys, ...ref }: LinkRef & { readonly keys: readonly string[] },
): Promise<
  ConnectedLink | { readonly state: "refused"; choice: ChoiceForm; error: AppError } | OpenedConnection
> {
  const { ctx } = call;
  const link = await readLink(ctx, ref);
  if (link.state === "closed") return link;
  // Nothing was found yet: what was sent is no answer to anything that was asked.
  if (link.row.status !== "choose") return showLink(ctx, link);
  const found = openChoice(ctx, link.row);
  try {
    return await connectChosen(call, link, { found, chosen: pickChannels(link.target, found, keys) });
  } catch (error) {
    if (error instanceof LinkUsed) return closedNow(ctx, ref);
    if (!(error instanceof AppError)) throw error;
    return { state: "refused", choice: await toChoice(ctx, link, found), error };
  }
}

async function toForm(ctx: AppContext, link: OpenLink): Promise<ConnectForm> {
  const { target } = link;
  const { way } = target;
  const defaults = await defaultsOf(ctx, target);
  const { fields = [], place } = way.kind === "secrets" ? way : {};
  const server = instanceOf(ctx, target);
  const serverField = serverFieldOf(ctx, target);
  const own = fields.map((field) => ({
    ...field,
    value: field.isSecret ? "" : (defaults[field.name] ?? ""),
    isStored: field.isSecret && (defaults[field.name] ?? "") !== "",
  }));
  return {
    ...(await toLinkPage(ctx, link)),
    steps: way.steps ?? [],
    toCopy: way.toCopy ?? null,
    placeUrl: place === undefined || server === null ? null : server + place,
    fields: serverField === null ? own : [serverField, ...own],
    signIn: signInOf(ctx, target),
  };
}

function signInOf(ctx: AppContext, { platform, way }: ConnectTarget): WindowButton | null {
  if (way.kind !== "secrets" || way.signIn === undefined) return null;
  const { label, field, messageKey, url } = way.signIn;
  const address = url({ setting: (name) => readSetting(ctx, platform, name) });
  return address === null ? null : { label, field, messageKey, url: address };
}

/** What every page of a link says, before anything was found. */
export type LinkPage = Readonly<Awaited<ReturnType<typeof toLinkPage>>>;

/** Another way of the platform's that the person may take. */
export type OtherWay = LinkPage["otherWays"][number];

/** What the page says before it leads on to the platform. */
export interface ConsentStart extends LinkPage {
  /** What the platform is asked for; empty where that is not known before. */
  readonly scopes: readonly string[];
  /** Where the server is still to be entered. */
  readonly serverField: FormField | null;
  /** The person was led on, and has not come back. */
  readonly isWaiting: boolean;
  /** Why the last try did not work. */
  readonly error: string | null;
  /** What is to be done at the platform first: the missing settings and, for an app of its own, the steps. */
  readonly setup: { readonly missing: readonly string[]; readonly way: WaySetup | null } | null;
}

export type ConsentTarget = ConnectTarget & { readonly way: OAuthWay | RedirectWay };

export function hasConsent(target: ConnectTarget): target is ConsentTarget {
  return target.way.kind === "oauth" || target.way.kind === "redirect";
}

/** The platform's way of this name; throws `invalid` that lists those there are. */
export function findWay(platform: AnyPlatform, name: string): ConnectWay {
  const way = platform.connect.find((candidate) => candidate.name === name);
  if (way !== undefined) return way;
  const known = platform.connect.map((candidate) => candidate.name).join(", ");
  throw new AppError(
    "invalid",
    `way: ${quote(name)} is not a way to connect ${platform.title}. Its ways are ${known}. The first is taken where none is given.`,
  );
}

async function toLinkPage(ctx: AppContext, { row, target }: Pick<OpenLink, "row" | "target">) {
  const { platform, way, reconnecting } = target;
  const others = platform.connect.filter((other) => other !== way);
  return {
    platformTitle: platform.title,
    instructions: way.instructions,
    instanceUrl: target.instanceUrl,
    /** The channel that is being reconnected. */
    reconnecting: reconnecting === null ? null : (reconnecting.handle ?? reconnecting.name),
    /** Its posts that go out then. */
    release: await describeReconnection(ctx, reconnecting),
    minutesLeft: minutesLeft(ctx, row.expires_at),
    way: way.name,
    otherWays: others.map(({ name, label }) => ({ name, label })),
  };
}

export async function toStart(
  ctx: AppContext,
  { row, target }: Pick<OpenLink, "row"> & { readonly target: ConsentTarget },
): Promise<ConsentStart> {
  const { platform, way } = target;
  const missing = missingSettings(await effectiveSettings(ctx), platform, way);
  return {
    ...(await toLinkPage(ctx, { row, target })),
    scopes: scopesOf(way, readSetting(ctx, platform, wayName(way, "SCOPES"))),
    serverField: serverFieldOf(ctx, target),
    isWaiting: row.pending_enc !== null && row.way === way.name,
    error: row.error,
    setup: missing.length === 0 ? null : { missing, way: await describeWaySetup(ctx, platform, way) },
  };
}

/**
 * Where the consent is asked for and comes back to. Throws `unavailable` that names the settings without which
 * it cannot be asked for, and `invalid` where the server is not known.
 */
export async function findPlace(ctx: AppContext, target: ConsentTarget): Promise<Place> {
  const { platform, way } = target;
  await requireConfigured(ctx, platform, way);
  const instanceUrl = way.instance === "no" ? target.instanceUrl : instanceOf(ctx, target);
  const place = { instanceUrl, redirectUrl: await redirectUrlOf(ctx, platform) };
  // One that registers itself does so when the person goes on.
  if (way.kind === "oauth" && way.register === undefined) await findUsedApp(ctx, { platform, way, place });
  if (way.instance === "required" && place.instanceUrl === null) {
    throw new AppError(
      "invalid",
      `instanceUrl: is required, because ${platform.title} has many servers. Give the address of the channel's server, for example https://social.example.`,
    );
  }
  return place;
}
