import type { Command } from "commander";
import type { Host } from "../host.ts";
import { toJsonText } from "../json.ts";

export function addBackupCommand(program: Command, host: Host): void {
  program
    .command("backup")
    .description("write database, stored files and settings to one file, while a server goes on working")
    .argument("<file>", "where to; its folder must be there")
    .option("--force", "overwrite the file if it is there")
    .addHelpText(
      "after",
      `
The file is a plain tar with checksums. It holds the database, the stored files and posthorn.env. Passwords, tokens and the whole of
posthorn.env are encrypted in it, and secret.key, which opens them, is not in it: keep a copy of secret.key apart from your backups.
Settings that are environment variables, api.key and uploads under way are not in it either.
Files that a bucket keeps (POSTHORN_S3_…) stay there: the backup names them. Turn on versioning or copies in the bucket itself.

Examples:
  posthorn backup /mnt/backups/posthorn-$(date +%F).tar
  posthorn restore /mnt/backups/posthorn-2027-01-31.tar`,
    )
    .action((file: string, options: { force?: true }) => backup(host, file, options.force === true));
}

async function backup(host: Host, file: string, isForced: boolean): Promise<void> {
  const { secretKeyFile, missing, bucket, ...report } = await host.backup({ file, isForced });
  host.terminal.print(toJsonText({ ...report, missing }));
  if (missing.length > 0) {
    const files = missing.length === 1 ? "1 file is" : `${missing.length} files are`;
    host.terminal.tell(
      `${files} not in it, having been deleted meanwhile or missing in the store: ${missing.slice(0, 5).join(", ")}\n`,
    );
  }
  if (bucket !== null) {
    host.terminal.tell(
      `The files stay in ${bucket}; the backup names ${report.filesInBucket} of them. See that they are safe there.\n`,
    );
  }
  if (report.hasSettings) host.terminal.tell("posthorn.env is in it, encrypted.\n");
  host.terminal.tell(
    `The key that opens its tokens is not in it. Keep a copy of ${secretKeyFile} somewhere else.\n`,
  );
}
