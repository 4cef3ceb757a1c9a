import type { Command } from "commander";
import { DEFAULT_OWNER } from "../../domain/permissions.ts";
import { plainCall } from "../../services/context.ts";
import type { Host } from "../host.ts";
import { localCaller } from "../local-caller.ts";

interface ExportOptions {
  readonly owner: string;
  readonly force?: true;
}

export function addExportCommand(program: Command, host: Host): void {
  program
    .command("export")
    .description("write everything of an owner as lines of JSON, without secrets")
    .argument("[file]", "the file to write (default: standard output)")
    .option("--owner <owner>", "whose data", DEFAULT_OWNER)
    .option("--force", "overwrite the file if it is there")
    .addHelpText(
      "after",
      `
Each line is one object with a "type": export (the first), account, key, webhook, file, post (with its history), end (the last, with counts).
It has the records of files. posthorn backup holds their bytes.

Examples:
  posthorn export posts.jsonl
  posthorn export --owner alice | grep '"type":"post"'`,
    )
    .action((file: string | undefined, options: ExportOptions) => exportAll(host, file, options));
}

async function exportAll(
  host: Host,
  file: string | undefined,
  { owner, force }: ExportOptions,
): Promise<void> {
  const { exportOwner, writeExport } = await import("../../services/upkeep/export.ts");
  await using session = await host.openSession();
  const lines = exportOwner(plainCall(session.ctx, localCaller({ ownerId: owner })), host.version);
  if (file !== undefined) {
    const written = await writeExport(lines, { file, isForced: force === true, signal: host.stopSignal });
    host.terminal.tell(`${written} lines were written to ${file}.\n`);
    return;
  }
  for await (const line of lines) {
    host.stopSignal.throwIfAborted();
    host.terminal.print(`${JSON.stringify(line)}\n`);
  }
}
