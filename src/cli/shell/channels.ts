import type { Command } from "commander";
import { plainCall } from "../../context.ts";
import { findChannel, listAccounts, namesAmong } from "../../accounts/accounts.ts";
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
    .action(async ({ json }: { json?: true }) => {
      await using session = await host.openSession();
      const result = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
      await printList(host, session, { result, json });
    });
  program
    .command("disconnect")
    .description("forget a channel's passwords and tokens (its posts stay)")
    .argument("<channel>", "its name, handle, id or platform")
    .option("--yes", "do not ask")
    .option("--json", "print JSON on a terminal, too")
    .action(async (channel: string, { yes, json }: { yes?: true; json?: true }) => {
      await using session = await host.openSession();
      const { accounts } = await listAccounts(plainCall(session.ctx, shellCaller(), host.stopSignal));
      const { id, name } = findChannel(session.ctx, accounts, { wanted: channel, field: "channel" });
      const called = namesAmong(session.ctx, accounts).get(id) ?? name;
      const asked = { signal: host.stopSignal, ...consentOf(host, session, yes === true) };
      const { result } = await session.toolbox.call(
        "disconnect_channel",
        { accountId: id },
        shellCaller(),
        asked,
      );
      const sentence = `${called} is disconnected. Its waiting posts stay, and fail unless it is connected again before their time.`;
      printResult(host, { json, sentence, result });
    });
}
