import { localCaller } from "../../access/api-keys.ts";
import { makeSignIn, SIGN_IN_LIFE_MS, signInAddress } from "../../access/page-sessions.ts";
import { plainCall } from "../../context.ts";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { openCalendarLink, revokeCalendarLink } from "../../reporting/feeds/calendar-link.ts";
import { readServerUrl } from "../../publishing/at-work.ts";
import { owner, type Row, row, unless } from "../command.ts";
import { toJsonText } from "../options.ts";
import { inShell, type Shell } from "../shell/shell.ts";

/** An address alone on standard output, so that `$(…)` is it; JSON for those who ask for it. */
function printAddress(
  { terminal }: Shell,
  json: true | undefined,
  { advice, result }: { advice: string; result: { readonly url: string; readonly expiresAt?: string } },
): void {
  if (json === true) return terminal.print(toJsonText(result));
  if (terminal.isScreen) terminal.tell(`${advice}\n`);
  terminal.print(`${result.url}\n`);
}

export const OPEN: Row = row({
  name: "open",
  about: "print an address that signs you in to the page of the server that runs",
  takes: { "--json": "print the address and when it ends as JSON" },
  help: `
The address works once, within 10 minutes. Keep it to yourself: who opens it may do everything.

Example:
  posthorn open`,
  run: ({ json }, host) =>
    inShell(host, json, async (at) => {
      if (at.ctx.settings.hasPage === false)
        throw new AppError(
          "unavailable",
          "There is no page: POSTHORN_PAGE is off. Turn it on, and start the server again.",
        );
      const address = await readServerUrl(at.ctx);
      if (address === null)
        throw new AppError(
          "unavailable",
          "No server runs on this data folder, so there is no page to open. Start one with posthorn serve, which prints an address.",
        );
      const url = signInAddress(address, await makeSignIn(at.ctx));
      const expiresAt = toIso(at.now().now + SIGN_IN_LIFE_MS);
      const advice = "Open this address. It signs you in once, within 10 minutes.";
      printAddress(at, json, { advice, result: { url, expiresAt } });
    }),
});

export const CALENDAR_LINK: Row = row({
  name: "calendar-link",
  about: "print the address at which a calendar application can subscribe to the plan",
  takes: {
    "--owner <owner>": owner("whose plan"),
    "--new": unless("revoke", "make another address and end the old one"),
    "--revoke": "end the address",
    "--json": "print the address as JSON",
  },
  help: `
Everyone who knows the address sees the plan: texts, times, channels. It works while "posthorn serve" runs. Other machines
reach it where POSTHORN_PUBLIC_URL is set.

Examples:
  posthorn calendar-link
  posthorn calendar-link --owner alice --new`,
  run: ({ owner: ownerId, new: isNew = false, revoke, json }, host) =>
    inShell(host, json, async (at) => {
      const call = plainCall(at.ctx, localCaller({ ownerId }));
      if (revoke === true) {
        await revokeCalendarLink(call);
        return at.terminal.tell("The address is not valid any more.\n");
      }
      const advice =
        "Subscribe to this address in your calendar application. Everyone who knows it sees the plan.";
      printAddress(at, json, { advice, result: await openCalendarLink(call, { isNew }) });
    }),
});
