import { AppError } from "../../domain/errors.ts";
import type {
  ConnectWay,
  SecretField,
  Secrets,
  ConnectInput,
  Connected,
  NoneWay,
  SecretsWay,
  Place,
} from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import type { Reader } from "../../store/engine/store.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";
import type { AppContext, GuestCall } from "../../context.ts";
import { readSettings, createConnectIo, toPlatformAccount } from "../platform-io/connect-io.ts";
import { readSecrets } from "./renew-tokens.ts";
import { parseUrl, withoutTrailing } from "../../domain/parse-url.ts";
import { isOwnAddress } from "../platform-io/effective-settings.ts";
import { OutboundFailure } from "../../ports/outbound.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { fitConnected } from "../platform-io/fit-answers.ts";
import { scrub } from "../platform-io/secrets.ts";

/** What is to be connected, and for whom. */
export interface ConnectTarget {
  readonly ownerId: string;
  readonly platform: AnyPlatform;
  readonly way: ConnectWay;
  readonly instanceUrl: string | null;
  readonly handle: string | null;
  readonly name: string | null;
  readonly reconnecting: AccountRow | null;
}

/** A field of the page's form. */
export interface FormField extends SecretField {
  /** What stands in it at first; always empty for what is hidden. */
  readonly value: string;
  /** Left empty, it stays what it is. */
  readonly isStored: boolean;
}

const MAX_SECRET_CHARS = 4_096;

/**
 * The fields as the platform gets them: trimmed, with the target's handle and, on a reconnection, the stored
 * values in the place of empty ones. Throws `invalid` that begins with the field's name.
 */
export async function completeFields(
  ctx: AppContext,
  target: ConnectTarget,
  given: Secrets,
): Promise<Secrets> {
  const { way } = target;
  const fields = way.kind === "secrets" ? way.fields : [];
  const names = fields.map((field) => field.name);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const known = names.length === 0 ? "It takes none." : `Its fields are ${names.join(", ")}.`;
    throw new AppError(
      "invalid",
      `secrets: "${unknown.slice(0, 40)}" is not a field of ${target.platform.title}. ${known}`,
    );
  }
  const defaults = await defaultsOf(ctx, target);
  const values = fields.map((field): [string, string] => {
    const value = given[field.name]?.trim() || defaults[field.name] || "";
    if (value === "" && field.isRequired)
      throw new AppError("invalid", `${field.name}: is required. ${field.help}`);
    if (value.length > MAX_SECRET_CHARS)
      throw new AppError("invalid", `${field.name}: must be at most ${MAX_SECRET_CHARS} characters long.`);
    return [field.name, value];
  });
  return Object.fromEntries(values);
}

/** What stands in for a field that is left empty. */
export async function defaultsOf(ctx: AppContext, target: ConnectTarget): Promise<Secrets> {
  const handle = target.handle ?? target.reconnecting?.handle ?? "";
  const stored = isSameTarget(target) ? await storedSecrets(ctx, ctx.store, target.reconnecting) : {};
  const usable = Object.entries(stored).filter(([name]) => !isRefused(target, name));
  return { ...(handle === "" ? {} : { handle }), ...Object.fromEntries(usable) };
}

/** What a channel cannot do without is asked for anew once the platform has refused it. */
function isRefused({ way, reconnecting }: ConnectTarget, name: string): boolean {
  if (way.kind !== "secrets" || reconnecting?.status !== "reconnect_required") return false;
  return way.fields.some((field) => field.name === name && field.isSecret && field.isRequired);
}

/** The caller that starts a reconnection may name another server or handle: no stored password goes there. */
function isSameTarget({ reconnecting, instanceUrl, handle }: ConnectTarget): boolean {
  if (reconnecting === null) return false;
  const isSameHandle = handle === null || handle === reconnecting.handle;
  const addresses = Object.values(readSettings(reconnecting)).map((value) =>
    typeof value === "string" ? withoutTrailing(value, "/") : null,
  );
  return isSameHandle && (instanceUrl === null || addresses.includes(withoutTrailing(instanceUrl, "/")));
}

/**
 * With those of its grant. None where they cannot be opened any more: then all of them are asked for again.
 */
export async function storedSecrets(
  ctx: AppContext,
  reader: Reader,
  row: AccountRow | null,
): Promise<Secrets> {
  if (row === null) return {};
  try {
    return await readSecrets(ctx, reader, row);
  } catch (error) {
    if (error instanceof AppError) return {};
    throw error;
  }
}

/** Asked for on the page where the caller that made the link did not know it. */
const SERVER_FIELD: FormField = {
  name: "instanceUrl",
  label: "Server",
  help: "The address of the server or site that the channel is on, for example https://social.example.",
  isRequired: true,
  isSecret: false,
  value: "",
  isStored: false,
};

/** Null where the server is known, or the platform has but one. */
export function serverFieldOf(ctx: AppContext, target: ConnectTarget): FormField | null {
  const { way } = target;
  const isNeeded = "instance" in way && way.instance === "required";
  return isNeeded && instanceOf(ctx, target) === null ? SERVER_FIELD : null;
}

/** Of a platform with many servers, the one in the settings stands in. */
export function instanceOf(ctx: AppContext, { platform, instanceUrl }: ConnectTarget): string | null {
  if (instanceUrl !== null) return instanceUrl;
  const usual = ctx.settings.platformSettings[`POSTHORN_${platform.name.toUpperCase()}_BASE_URL`];
  return usual === undefined ? null : withoutTrailing(usual, "/");
}

/** The target on the server that a person entered, where it was asked for. Throws `invalid`. */
export function onServer<T extends ConnectTarget>(ctx: AppContext, target: T, entered = ""): T {
  if (entered.trim() === "" || serverFieldOf(ctx, target) === null) return target;
  return { ...target, instanceUrl: readInstance(ctx, target.platform, entered) };
}

/** `pds.example` and `https://pds.example/` mean the same. Throws `invalid`. */
export function readInstance(ctx: AppContext, platform: AnyPlatform, text: string): string {
  const address = serverIn(text.trim());
  const given = parseUrl(address);
  if (
    given !== null &&
    [given.username, given.password, given.search, given.hash].some((part) => part !== "")
  )
    throw new AppError(
      "invalid",
      "instanceUrl: give only the server's address, for example https://pds.example.",
    );
  const url = ctx.outbound.assertAllowed("instanceUrl", address, isOwnAddress(ctx, platform, address));
  return withoutTrailing(url.origin + url.pathname, "/");
}

/** `alice@server.example` and `@alice:server.example`, as people name themselves on their server. */
const HANDLE = /^(?:acct:)?(?:@?[^\s@:/]+@|@[^\s@:/]+:)([^\s@/]+)$/;

/** Many type who they are there, or the address of their profile: both name the server. */
function serverIn(text: string): string {
  const [, host] = HANDLE.exec(text) ?? [];
  if (host !== undefined) return `https://${host}`;
  const address = text.includes("://") ? text : `https://${text}`;
  return address.replace(/^(https?:\/\/[^/@]+)\/@[^/?#]+\/?$/i, "$1");
}

/** As the platform's file gets it. */
export function toInput(target: ConnectTarget, secrets: Secrets): ConnectInput {
  const { reconnecting, instanceUrl, handle, name } = target;
  return {
    instanceUrl,
    handle,
    name,
    secrets,
    reconnecting: reconnecting === null ? null : toPlatformAccount(reconnecting),
  };
}

/** What a connection found, and where it was asked for. */
export interface ConnectionResult extends Connected {
  readonly place: Place;
}

/** The platform's channels, each once. */
export function toFound({ tokens, targets }: Connected, place: Place): ConnectionResult {
  const byId = new Map(targets.map((target) => [target.platformAccountId, target]));
  return { tokens, targets: [...byId.values()], place };
}

/** Finds the channels that the secrets are good for. Throws AppError for what the person can mend. */
export function findChannels(
  { ctx, signal }: GuestCall,
  target: ConnectTarget & { readonly way: NoneWay | SecretsWay },
  secrets: Secrets,
): Promise<ConnectionResult> {
  const { platform, way, ownerId } = target;
  return explainingFaults(ctx, { platform, secrets: Object.values(secrets) }, async () => {
    const knownSecrets = new Set(Object.values(secrets));
    const io = await createConnectIo(ctx, { provider: platform.name, ownerId, knownSecrets }, signal);
    const connected = fitConnected(platform.title, await way.connect(toInput(target, secrets), io));
    // No person is there to read the notice, or to be told that it worked.
    if (signal.aborted) throw new PlatformFault("not_sent", "Connecting was called off.");
    return toFound(connected, { instanceUrl: target.instanceUrl, redirectUrl: "" });
  });
}

/**
 * Faults of the platform become AppErrors: `unavailable` and `rate_limited` pass, the others stay. What a
 * platform's file made of one says the platform's words too.
 */
export async function explainingFaults<T>(
  ctx: AppContext,
  about: { readonly platform: AnyPlatform; readonly secrets: readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) {
      const { kind, message, cause } = error;
      const says = cause instanceof PlatformFault ? cause.says : "";
      throw message.includes(says) ? error : new AppError(kind, `${message}${says}`, { cause });
    }
    if (!(error instanceof PlatformFault)) throw error;
    const cause = scrub(String(error.cause ?? ""), about.secrets);
    ctx.log.warn(
      { provider: about.platform.name, kind: error.kind, httpStatus: error.httpStatus, cause },
      "Connecting did not work",
    );
    throw explainFault(about.platform, error);
  }
}

function explainFault(platform: AnyPlatform, fault: PlatformFault): AppError {
  if (fault.cause instanceof OutboundFailure && fault.cause.reason !== null)
    return new AppError("unavailable", `${fault.message} Check that, then try again.`);
  switch (fault.kind) {
    case "auth":
    case "rejected":
      return new AppError("invalid", fault.message);
    case "rate":
      return new AppError("rate_limited", `${fault.message} Try again in ${minutesOf(fault.retryAfterMs)}.`);
    case "setup":
      return new AppError("unavailable", fault.message);
    case "not_sent":
    case "transient":
    case "ambiguous":
      return new AppError(
        "unavailable",
        `${platform.title} could not be asked: ${fault.message} Check the address and try again.`,
      );
  }
}

function minutesOf(ms: number | null): string {
  const minutes = ms === null ? 1 : Math.max(1, Math.ceil(ms / 60_000));
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
