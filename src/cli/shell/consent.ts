import { AppError } from "../../domain/errors.ts";
import type { ConfirmOptions } from "../../toolkit/confirm.ts";
import type { Host, Session } from "../host.ts";

/**
 * How a command lets a person agree to what counts: at a terminal they are asked, unless they have said yes
 * on the command line. Scripts go on, except with `POSTHORN_CONFIRM=always`.
 */
export function consentOf(host: Host, session: Session, isYes: boolean): ConfirmOptions {
  if (isYes) return { isConfirmed: true };
  const isAsked = host.terminal.isInteractive || session.ctx.settings.confirm === "always";
  return isAsked ? { ask: askAt(host) } : {};
}

/** Puts the question to whoever sits at the terminal. Throws `conflict` without a yes. */
export function askAt({ terminal, stopSignal }: Host): NonNullable<ConfirmOptions["ask"]> {
  return async ({ text }) => {
    if (!terminal.isInteractive)
      throw new AppError(
        "conflict",
        "Nothing was done: with POSTHORN_CONFIRM=always a person must say yes at a terminal.",
      );
    const answer = await terminal.ask(`${text} (y/N) `, { isHidden: false, signal: stopSignal });
    if (/^y(es)?$/i.test(answer.trim())) return "yes";
    throw new AppError("conflict", "Nothing was done.");
  };
}
