import type { Command } from "commander";
import { UNSIGNED_RISK, type Host, type RestoreResult } from "../host.ts";
import { toJsonText } from "../json.ts";

export function addRestoreCommand(program: Command, host: Host): void {
  program
    .command("restore")
    .description("put a backup into the data folder, while nothing runs on it")
    .argument("<file>", "what posthorn backup wrote")
    .option("--force", "replace a database that holds posts, and keep it beside the new one")
    .option("--unsigned", "take a backup that secret.key does not vouch for (the risk is told below)")
    .addHelpText(
      "after",
      `
Database, files and posthorn.env come from the backup. A posthorn.env that is in the data folder already stays, and the
backup's is put beside it. The backup is verified as a whole before anything is touched. secret.key must be the one that belonged to it: on a new machine, copy it
into the data folder first. With it a restore also checks that the backup is as it was made. With --unsigned it takes one that is not, or that
was made before backups were signed. ${UNSIGNED_RISK}

Nothing goes out twice: a post that was due before now and that the backup knows as waiting may have gone out since. Its platform is
asked first where it can tell. Otherwise the post is failed with "outcome unknown" until you settle it (posthorn call resolve_post).
Posts due later go out as the backup has them: look through them if you changed or cancelled some since.

Example:
  posthorn restore /mnt/backups/posthorn-2027-01-31.tar`,
    )
    .action((file: string, options: { force?: true; unsigned?: true }) =>
      restore(host, { file, isForced: options.force === true, isUnsigned: options.unsigned === true }),
    );
}

function explainSettings({ file, isInForce }: NonNullable<RestoreResult["settings"]>): string {
  return isInForce
    ? `The settings of the backup are in ${file}. Look through them where this is another machine.\n`
    : `posthorn.env of the data folder stays as it is. The settings of the backup are beside it, in ${file}.\n`;
}

async function restore(host: Host, restoring: Parameters<Host["restore"]>[0]): Promise<void> {
  const report = await host.restore(restoring);
  host.terminal.print(toJsonText(report));
  if (report.keptAside !== null)
    host.terminal.tell(`The database that was there is kept as ${report.keptAside}.\n`);
  if (report.settings !== null) host.terminal.tell(explainSettings(report.settings));
  if (!report.isSigned)
    host.terminal.tell(
      `secret.key does not vouch for this backup. ${UNSIGNED_RISK} Look through "posthorn keys list" and your channels before you start.\n`,
    );
  if (report.missing.length > 0) {
    const files = report.missing.length === 1 ? "1 file is" : `${report.missing.length} files are`;
    host.terminal.tell(`${files} not in the bucket any more: ${report.missing.slice(0, 5).join(", ")}\n`);
  }
  if (report.held > 0) {
    const posts =
      report.held === 1
        ? "1 post was due and may have gone out"
        : `${report.held} posts were due and may have gone out`;
    host.terminal.tell(
      `${posts} since the backup was made: none is sent again before the platform or you can tell.\n`,
    );
  }
  host.terminal.tell(
    "Make sure that no other Posthorn goes on from the same data: two of them would publish everything twice.\n",
  );
}
