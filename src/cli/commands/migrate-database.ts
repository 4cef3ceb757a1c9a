import type { Command } from "commander";
import type { Host } from "../host.ts";
import { toJsonText } from "../json.ts";

export function addMigrateDatabaseCommand(program: Command, host: Host): void {
  program
    .command("migrate-database")
    .description("move the data folder's database into the PostgreSQL of DATABASE_URL")
    .addHelpText(
      "after",
      `
Stop everything that works on the data folder first. Set DATABASE_URL to an empty database, and say where the files are to be: in a
bucket (POSTHORN_S3_…), or in a folder that all hosts share (POSTHORN_FILES=folder). Set the secret key that every host will have, too
(docs/many-machines.md). Every row is copied and compared; files go into the bucket. If it is cut off, run it again: it goes on where it was. The folder is only read, and marked, so that nothing starts on it by mistake.

Example:
  DATABASE_URL=postgres://posthorn:…@db.example.com/posthorn posthorn migrate-database`,
    )
    .action(() => migrate(host));
}

async function migrate(host: Host): Promise<void> {
  const { terminal } = host;
  const result = await host.migrateDatabase(({ table, rows }) => {
    if (terminal.isScreen) terminal.tell(`${table}: ${rows}\n`);
  });
  terminal.print(toJsonText(result));
  if (result.tables === null) terminal.tell("The database was moved before. Nothing was left to copy.\n");
  if (result.missing.length > 0) {
    const files = result.missing.length === 1 ? "1 file is" : `${result.missing.length} files are`;
    terminal.tell(`${files} not in the folder any more: ${result.missing.slice(0, 5).join(", ")}\n`);
  }
  terminal.tell("Start every host with DATABASE_URL and the same secret key from now on.\n");
}
