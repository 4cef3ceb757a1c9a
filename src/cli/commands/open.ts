import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import type { Host } from "../host.ts";
import { printAddress } from "../options.ts";

export function addOpenCommand(program: Command, host: Host): void {
  program
    .command("open")
    .description("print an address that signs you in to the page of the server that runs")
    .option("--json", "print the address and when it ends as JSON")
    .addHelpText(
      "after",
      `
The address works once, within 10 minutes. Keep it to yourself: who opens it may do everything.

Example:
  posthorn open`,
    )
    .action((options: { json?: true }) => open(host, options));
}

async function open(host: Host, { json }: { readonly json?: true }): Promise<void> {
  const [{ makeSignIn, signInAddress, SIGN_IN_LIFE_MS }, { readServerUrl }] = await Promise.all([
    import("../../access/page-sessions.ts"),
    import("../../health/status.ts"),
  ]);
  await using session = await host.openSession();
  const { ctx } = session;
  if (ctx.settings.hasPage === false)
    throw new AppError(
      "unavailable",
      "There is no page: POSTHORN_PAGE is off. Turn it on, and start the server again.",
    );
  const address = await readServerUrl(ctx);
  if (address === null) {
    throw new AppError(
      "unavailable",
      "No server runs on this data folder, so there is no page to open. Start one with posthorn serve, which prints an address.",
    );
  }
  const url = signInAddress(address, await makeSignIn(ctx));
  const expiresAt = toIso(ctx.clock.now() + SIGN_IN_LIFE_MS);
  const advice = "Open this address. It signs you in once, within 10 minutes.";
  printAddress(host, { json, advice, result: { url, expiresAt } });
}
