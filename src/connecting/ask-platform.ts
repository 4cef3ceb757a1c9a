import { AppError } from "../domain/errors.ts";
import type { ConnectInput, Connected, NoneWay, Secrets, SecretsWay } from "../ports/connect.ts";
import { OutboundFailure } from "../ports/outbound.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { PlatformFault } from "../ports/platform-io.ts";
import type { AppContext, GuestCall } from "../context.ts";
import { fitConnected } from "../platform-io/fit-answers.ts";
import { createConnectIo, toPlatformAccount } from "../platform-io/connect-io.ts";
import { scrub } from "../platform-io/secrets.ts";
import type { ConnectTarget } from "./connect-fields.ts";

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

/** Finds the channels that the secrets are good for. Throws AppError for whatever the person can mend. */
export function askPlatform(
  { ctx, signal }: GuestCall,
  target: ConnectTarget & { readonly way: NoneWay | SecretsWay },
  secrets: Secrets,
): Promise<Connected> {
  const { platform, way, ownerId } = target;
  return explainingFaults(ctx, { platform, secrets: Object.values(secrets) }, async () => {
    const knownSecrets = new Set(Object.values(secrets));
    const io = await createConnectIo(ctx, { provider: platform.name, ownerId, knownSecrets }, signal);
    const connected = fitConnected(platform.title, await way.connect(toInput(target, secrets), io));
    // Nobody is there to read the notice, or to be told that it worked.
    if (signal.aborted) throw new PlatformFault("not_sent", "Connecting was called off.");
    return connected;
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
    if (error instanceof AppError) throw withWords(error);
    if (!(error instanceof PlatformFault)) throw error;
    const cause = scrub(String(error.cause ?? ""), about.secrets);
    ctx.log.warn(
      { provider: about.platform.name, kind: error.kind, httpStatus: error.httpStatus, cause },
      "Connecting did not work",
    );
    throw explainFault(about.platform, error);
  }
}

function withWords(error: AppError): AppError {
  const { kind, message, cause } = error;
  const says = cause instanceof PlatformFault ? cause.says : "";
  return message.includes(says) ? error : new AppError(kind, `${message}${says}`, { cause });
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
