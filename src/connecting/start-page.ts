import { AppError } from "../domain/errors.ts";
import { quote } from "../domain/time.ts";
import type { ConnectWay, OAuthWay, Place, RedirectWay } from "../ports/connect.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { scopesOf, wayName } from "../ports/platform-setup.ts";
import type { AppContext } from "../context.ts";
import { findUsedApp } from "./apps.ts";
import {
  describeWaySetup,
  missingSettings,
  readSetting,
  redirectUrlOf,
  requireConfigured,
  type WaySetup,
} from "../platform-io/set-up.ts";
import { type ConnectTarget, type FormField, instanceOf, serverFieldOf } from "./connect-fields.ts";
import { minutesLeft, type OpenLink } from "./connect-link.ts";

/** Another way of the platform's that the person may take. */
export interface OtherWay {
  readonly name: string;
  readonly label: string;
}

/** What every page of a link says, before anything was found. */
export interface LinkPage {
  readonly platformTitle: string;
  readonly instructions: string;
  readonly instanceUrl: string | null;
  /** The channel that is being reconnected. */
  readonly reconnecting: string | null;
  readonly minutesLeft: number;
  readonly way: string;
  readonly otherWays: readonly OtherWay[];
}

/** What the page says before it leads on to the platform. */
export interface ConsentStart extends LinkPage {
  /** What the platform is asked for; empty where nobody knows before. */
  readonly scopes: readonly string[];
  /** Where the server is still to be entered. */
  readonly serverField: FormField | null;
  /** The person was led on, and has not come back. */
  readonly isWaiting: boolean;
  /** Why the last try did not work. */
  readonly error: string | null;
  /** What is to be done at the platform before anybody can go on; null: nothing. */
  readonly setup: StartSetup | null;
}

interface StartSetup {
  /** Whole names of the settings that are missing. */
  readonly missing: readonly string[];
  /** Null: no app of its own. */
  readonly way: WaySetup | null;
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

export function toLinkPage(ctx: AppContext, { row, target }: Pick<OpenLink, "row" | "target">): LinkPage {
  const { platform, way, reconnecting } = target;
  const others = platform.connect.filter((other) => other !== way);
  return {
    platformTitle: platform.title,
    instructions: way.instructions,
    instanceUrl: target.instanceUrl,
    reconnecting: reconnecting === null ? null : (reconnecting.handle ?? reconnecting.name),
    minutesLeft: minutesLeft(ctx, row.expires_at),
    way: way.name,
    otherWays: others.map(({ name, label }): OtherWay => ({ name, label })),
  };
}

export async function toStart(
  ctx: AppContext,
  { row, target }: Pick<OpenLink, "row"> & { readonly target: ConsentTarget },
): Promise<ConsentStart> {
  const { platform, way } = target;
  const missing = missingSettings(ctx, platform, way);
  return {
    ...toLinkPage(ctx, { row, target }),
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
