import type { PlatformAppArgs, PlatformAppState } from "../../domain/accounts/platform-app.ts";
import { AppError } from "../../domain/errors.ts";
import { deadline, SECOND } from "../../domain/time.ts";
import type { CallContext } from "../../context.ts";
import { createConnectIo } from "../platform-io/connect-io.ts";
import { type EnteredApp, setPlatformApp } from "../platform-io/platform-apps.ts";
import { redirectUrlOf } from "../platform-io/set-up.ts";
import { appSettingNames } from "../platform-io/effective-settings.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { tryCredentials } from "./oauth-requests.ts";
import { findEndpoints } from "./oauth.ts";

/** A person waits for it. */
const TRIAL_MS = 10 * SECOND;

/**
 * Keeps the app of a platform as `setPlatformApp` does, after the platform was asked whether it takes it. Throws
 * `invalid` where it does not. What could not be asked is kept all the same: the first consent will tell.
 */
export function enterPlatformApp(
  call: CallContext,
  args: PlatformAppArgs & { readonly provider: string },
): Promise<PlatformAppState> {
  return setPlatformApp(call, args, tryApp);
}

async function tryApp({ ctx, caller, signal }: CallContext, entered: EnteredApp): Promise<boolean> {
  const { platform, way, app } = entered;
  const { name: provider } = platform;
  const asking = { provider, ownerId: caller.ownerId, knownSecrets: new Set([app.clientSecret]) };
  try {
    const io = await createConnectIo(ctx, asking, deadline(TRIAL_MS, signal));
    const redirectUrl = await redirectUrlOf(ctx, platform);
    const place = { instanceUrl: null, redirectUrl };
    const endpoints = await findEndpoints(ctx, { platform, way, place }, io);
    const verdict = await tryCredentials({ platform, way, app, endpoints }, io, redirectUrl);
    ctx.log.info({ provider, verdict }, "The app of a platform was tried");
    if (verdict !== "refused") return verdict === "accepted";
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    ctx.log.info({ provider, kind: error.kind }, "The app of a platform could not be tried");
    return false;
  }
  throw new AppError("invalid", refusal(entered));
}

/** The way out is for a platform that refuses trials of apps that it takes. */
function refusal({ platform, way }: EnteredApp): string {
  const names = appSettingNames(platform.name, way.settingPrefix ?? "").join(" and ");
  return (
    `${platform.title} does not take this id with this secret, and nothing was stored. ` +
    `Copy both again, each with the button beside it, from ${way.setup?.url ?? platform.docs}. ` +
    `Where you are sure of both, set ${names} in the environment, which are not tried.`
  );
}
