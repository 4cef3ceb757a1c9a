import type { Command } from "commander";
import type { Status } from "../../domain/health/status.ts";
import { plainCall } from "../../context.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { getStatus, readServerUrl } from "../../health/status.ts";
import type { Host } from "../host.ts";
import { printResult } from "../options.ts";
import { toClock } from "./views.ts";

export function addStatusCommand(program: Command, host: Host): void {
  program
    .command("status")
    .description("show whether posts go out, what waits, and what needs you")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText("after", "\nExample:\n  posthorn status")
    .action(async ({ json }: { json?: true }) => {
      await using session = await host.openSession();
      const { ctx } = session;
      const result = await getStatus(plainCall(ctx, shellCaller(), host.stopSignal));
      const sentence = linesOf(result, await readServerUrl(ctx)).join("\n");
      printResult(host, { json, sentence, result });
    });
}

function linesOf(status: Status, server: string | null): string[] {
  const { publisher, counts, nextDueAt, timezone } = status;
  const next = nextDueAt === null ? "" : `, the next at ${toClock(nextDueAt, timezone)} (${timezone})`;
  const lines: readonly (readonly [string, string | null])[] = [
    ["Posts go out", publisher.running ? "yes" : 'no: nothing publishes. "posthorn serve" does'],
    ["Server", server ?? "none runs"],
    ["Planned", `${counts.scheduled}${next}`],
    ["Drafts", count(counts.draftsWaiting, "posthorn drafts waiting", "waiting for a decision")],
    ["Late", count(counts.overdue, "posthorn list")],
    ["Failed", count(counts.failed, "posthorn list failed")],
    ["Unknown", count(counts.unknownOutcome, "posthorn list failed")],
    ["Reconnect", names(status.accountsToReconnect)],
    ["Paused", names(status.accountsPaused)],
  ];
  return lines.flatMap(([title, text]) => (text === null ? [] : [`${title.padEnd(13)} ${text}`]));
}

function count(many: number, command: string, what = ""): string | null {
  return many === 0 ? null : `${many}${what === "" ? "" : ` ${what}`} ("${command}" shows them)`;
}

function names(accounts: readonly { readonly name: string; readonly provider: string }[]): string | null {
  return accounts.length === 0
    ? null
    : accounts.map(({ name, provider }) => `${name} (${provider})`).join(", ");
}
