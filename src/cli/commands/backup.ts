import type { Command } from "commander";
import type { Host } from "../host.ts";
import { printResult } from "../json.ts";
import { tellSize } from "../shell/views.ts";

export function addBackupCommand(program: Command, host: Host): void {
  program
    .command("backup")
    .description("write database, stored files and settings to one file, while a server goes on working")
    .argument("<file>", "the file to write, in a folder that exists")
    .option("--force", "overwrite the file if it is there")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
The file is a plain tar with checksums. It holds the database, the stored files and posthorn.env. Passwords, tokens and the whole of
posthorn.env are encrypted in it. secret.key, which opens them, is not in it: keep a copy of secret.key apart from your backups.
Settings that are environment variables, api.key and uploads under way are not in it either.
Files that a bucket keeps (POSTHORN_S3_…) stay there: the backup names them. Turn on versioning or copies in the bucket itself.

Examples:
  posthorn backup /mnt/backups/posthorn-$(date +%F).tar
  posthorn restore /mnt/backups/posthorn-2027-01-31.tar`,
    )
    .action((file: string, options: BackupOptions) => backup(host, file, options));
}

interface BackupOptions {
  readonly force?: true;
  readonly json?: true;
}

async function backup(host: Host, file: string, { force, json }: BackupOptions): Promise<void> {
  const isForced = force === true;
  const { secretKeyFile, missing, bucket, ...report } = await host.backup({ file, isForced });
  const stored = report.files === 1 ? "1 stored file" : `${report.files} stored files`;
  const sentence = `The backup ${report.file} is written: the database and ${stored}, ${tellSize(report.sizeBytes)}.`;
  printResult(host, { json: json === true, sentence, result: { ...report, missing } });
  if (missing.length > 0) {
    const files = missing.length === 1 ? "1 file is" : `${missing.length} files are`;
    host.terminal.tell(
      `${files} not in it (deleted meanwhile, or missing in the store): ${missing.slice(0, 5).join(", ")}\n`,
    );
  }
  if (bucket !== null) {
    host.terminal.tell(
      `The files stay in ${bucket}. The backup names ${report.filesInBucket} of them. See that they are safe there.\n`,
    );
  }
  if (report.hasSettings) host.terminal.tell("posthorn.env is in it, encrypted.\n");
  host.terminal.tell(
    `The key that opens its tokens is not in it. Keep a copy of ${secretKeyFile} somewhere else.\n`,
  );
}
