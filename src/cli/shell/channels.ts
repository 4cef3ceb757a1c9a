import type { Command } from "commander";
import { plainCall } from "../../context.ts";
import { listAccounts, findChannel } from "../../accounts/accounts.ts";
import type { Host } from "../host.ts";
import { printResult } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { consentOf } from "./outcomes.ts";
import { printList } from "./views.ts";

export function addChannelCommands(program: Command, host: Host): void {
  program
    .command("accounts")
    .description("list the connected channels")
    .option("--json", "print JSON on a terminal, too")
    .action((options: { json?: true }) => accounts(host, options));
  program
    .command("disconnect")
    .description("forget a channel's passwords and tokens (its posts stay)")
    .argument("<channel>", "its name, handle, id or platform")
    .option("--yes", "do not ask")
    .option("--json", "print JSON on a terminal, too")
    .action((channel: string, options: { yes?: true; json?: true }) => disconnect(host, channel, options));
}

async function accounts(host: Host, options: { json?: true }): Promise<void> {
  await using session = await host.openSession();
  const result = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
  await printList(host, session, result, options.json);
}

async function disconnect(
  host: Host,
  channel: string,
  options: { readonly yes?: true; readonly json?: true },
): Promise<void> {
  await using session = await host.openSession();
  const { accounts: all } = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
  const { id, name } = findChannel(all, channel, "channel");
  const { result } = await session.toolbox.call("disconnect_channel", { accountId: id }, shellCaller(), {
    signal: host.stopSignal,
    ...consentOf(host, session, options.yes === true),
  });
  const sentence = `${name} is disconnected. Its waiting posts stay, and fail unless it is connected again before their time.`;
  printResult(host, { json: options.json === true, sentence, result });
}
