import { type Command, Option } from "commander";
import { plainCall } from "../../context.ts";
import type { Host } from "../host.ts";
import { ownerOption, printAddress } from "../options.ts";
import { localCaller } from "../../access/api-keys.ts";

interface LinkOptions {
  readonly owner: string;
  readonly new?: true;
  readonly revoke?: true;
  readonly json?: true;
}

export function addCalendarLinkCommand(program: Command, host: Host): void {
  program
    .command("calendar-link")
    .description("print the address at which a calendar application can subscribe to the plan")
    .addOption(ownerOption("whose plan"))
    .addOption(new Option("--new", "make another address and end the old one").conflicts("revoke"))
    .option("--revoke", "end the address")
    .option("--json", "print the address as JSON")
    .addHelpText(
      "after",
      `
Everyone who knows the address sees the plan: texts, times, channels. It works while "posthorn serve" runs. Other machines
reach it where POSTHORN_PUBLIC_URL is set.

Examples:
  posthorn calendar-link
  posthorn calendar-link --owner alice --new`,
    )
    .action(async ({ owner, new: isNew, revoke, json }: LinkOptions) => {
      const { openCalendarLink, revokeCalendarLink } = await import("../../feeds/calendar-link.ts");
      await using session = await host.openSession();
      const call = plainCall(session.ctx, localCaller({ ownerId: owner }));
      if (revoke === true) {
        await revokeCalendarLink(call);
        host.terminal.tell("The address is not valid any more.\n");
        return;
      }
      const link = await openCalendarLink(call, { isNew: isNew === true });
      const advice =
        "Subscribe to this address in your calendar application. Everyone who knows it sees the plan.";
      printAddress(host, { json, advice, result: link });
    });
}
