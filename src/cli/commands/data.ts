import { localCaller } from "../../access/api-keys.ts";
import { plainCall } from "../../context.ts";
import { plural } from "../../domain/text/plain-text.ts";
import { exportPosts } from "../../posts/imports/export-posts.ts";
import { type RestoreResult, type Unknown, UNSIGNED_RISK } from "../../domain/health/backups.ts";
import { worded } from "../../toolkit/words.ts";
import { type CommandArgs, JSON_TOO, owner, type Row, row } from "../command.ts";
import type { Host, Terminal } from "../host.ts";
import { printResult, requireFileName, toJsonText } from "../options.ts";
import { inShell, type Shell } from "../shell/shell.ts";
import { formatSize } from "../shell/views.ts";

const EXPORT = {
  "[file]": "the file to write (default: standard output)",
  "--csv": "the posts that wait, as a table that posthorn import takes again",
  "--owner <owner>": owner("whose data"),
  "--force": "overwrite the file if it is there",
} as const;

type Exporting = CommandArgs<typeof EXPORT>;

export const DATA: readonly Row[] = [
  row({
    name: "backup",
    about: "write database, stored files and settings to one file, while a server goes on working",
    takes: {
      "<file>": "the file to write, in a folder that exists",
      "--force": "overwrite the file if it is there",
      "--json": JSON_TOO,
    },
    help: `
The file is a plain tar with checksums. It holds the database, the stored files and posthorn.env. Passwords, tokens and the whole of
posthorn.env are encrypted in it. secret.key, which opens them, is not in it: keep a copy of secret.key apart from your backups.
Settings that are environment variables, api.key and uploads under way are not in it either.
Files that a bucket keeps (POSTHORN_S3_…) stay there: the backup names them. Turn on versioning or copies in the bucket itself.

Examples:
  posthorn backup /mnt/backups/posthorn-$(date +%F).tar
  posthorn restore /mnt/backups/posthorn-2027-01-31.tar`,
    run: (given, host) => backup(host, given),
  }),
  row({
    name: "restore",
    about: "put a backup into the data folder, while nothing runs on it",
    takes: {
      "<file>": "what posthorn backup wrote",
      "--force": "replace a database that holds posts, and keep it beside the new one",
      "--unsigned": "take a backup that secret.key does not vouch for (the risk is told below)",
    },
    help: `
Database, files and posthorn.env come from the backup. A posthorn.env that is in the data folder already stays, and the
backup's is put beside it. The backup is verified as a whole before anything is touched. secret.key must be the one that belonged to it: on a new machine, copy it
into the data folder first. With it a restore also checks that the backup is as it was made. With --unsigned it takes one that is not, or that
was made before backups were signed. ${UNSIGNED_RISK}

What was decided since the backup was made stays decided, where the database that it replaces is still there: keys and programs that were
ended, channels that were disconnected or paused, drafts that were decided, posts that were sent or cancelled, and the answers to
idempotency keys. Without it the access of all programs ends, the keys that are good again are named, and each draft that is not decided
asks once to look at its channels before it is approved.

Nothing goes out twice: a post that was due before now and that the backup knows as waiting may have gone out since. Its platform is
asked first where it can tell. Otherwise the post is failed with "outcome unknown" until you settle it ("posthorn doctor" says how).
Posts due later go out as the backup has them: look through them if you changed some since.

Example:
  posthorn restore /mnt/backups/posthorn-2027-01-31.tar`,
    run: ({ file, force, unsigned }, host) =>
      restore(host, { file, isForced: force === true, isUnsigned: unsigned === true }),
  }),
  row({
    name: "migrate-database",
    about: "move the data folder's database into the PostgreSQL of DATABASE_URL",
    help: `
Stop everything that works on the data folder first. Set DATABASE_URL to an empty database, and say where the files are to be: in a
bucket (POSTHORN_S3_…), or in a folder that all hosts share (POSTHORN_FILES=folder). Set the secret key that every host will have, too
(docs/many-machines.md). Every row is copied and compared; files go into the bucket. If it is cut off, nothing is in the database: run it again. The folder is only read, and marked, so that nothing starts on it by mistake.

Example:
  DATABASE_URL=postgres://posthorn:…@db.example.com/posthorn posthorn migrate-database`,
    async run(_, { terminal, ...host }) {
      const result = await host.migrateDatabase(({ table, rows }) => {
        if (terminal.isScreen) terminal.tell(`${table}: ${rows}\n`);
      });
      terminal.print(toJsonText(result));
      printAll(terminal, [
        result.tables === null && "The database was moved before. Nothing was left to copy.",
        missingFiles(result.missing, "not in the folder any more"),
        "Start every host with DATABASE_URL and the same secret key from now on.",
      ]);
    },
  }),
  row({
    name: "export",
    about:
      "write everything of an owner as lines of JSON, without secrets, or the posts that wait as a table",
    takes: EXPORT,
    help: `
Each line is one object with a "type": export (the first), account, key, webhook, file, post (with its history), end (the last, with counts).
It has the records of files. posthorn backup holds their bytes.
With --csv the addresses of files that are stored here (r2://…) are known here alone: upload the files to another Posthorn first.
With --csv a cell that a spreadsheet would run begins with an apostrophe, which posthorn import takes away again.

Examples:
  posthorn export posts.jsonl
  posthorn export --csv posts.csv
  posthorn export --owner alice | grep '"type":"post"'`,
    async run(given, host) {
      if (given.file !== undefined) requireFileName(given.file);
      await inShell(host, undefined, (at) => exportAll(host, at, given));
    },
  }),
];

type Line = string | false;

function printAll(terminal: Terminal, lines: readonly Line[]): void {
  for (const line of lines) if (line !== false) terminal.tell(`${line}\n`);
}

/** Names the first of the files that are somewhere else than they should be. */
function missingFiles(keys: readonly string[], where: string): Line {
  const files = plural(keys.length, "file is", "files are");
  return keys.length > 0 && `${files} ${where}: ${keys.slice(0, 5).join(", ")}`;
}

interface BackingUp {
  readonly file: string;
  readonly force: true | undefined;
  readonly json: true | undefined;
}

async function backup(host: Host, { file, force, json }: BackingUp): Promise<void> {
  requireFileName(file);
  const { secretKeyFile, missing, bucket, ...report } = await host.backup({ file, isForced: force === true });
  const stored = plural(report.files, "stored file");
  const sentence = `The backup ${report.file} is written: the database and ${stored}, ${formatSize(report.sizeBytes)}.`;
  printResult(host, { json, sentence, result: { ...report, missing } });
  printAll(host.terminal, [
    missingFiles(missing, "not in it (deleted meanwhile, or missing in the store)"),
    bucket !== null &&
      `The files stay in ${bucket}. The backup names ${report.filesInBucket} of them. See that they are safe there.`,
    report.hasSettings && "posthorn.env is in it, encrypted.",
    `The key that opens its tokens is not in it. Keep a copy of ${secretKeyFile} somewhere else.`,
  ]);
}

async function restore(host: Host, restoring: Parameters<Host["restore"]>[0]): Promise<void> {
  requireFileName(restoring.file);
  const report = await host.restore(restoring);
  const { keptAside, settings } = report;
  host.terminal.print(toJsonText(report));
  printAll(host.terminal, [
    keptAside !== null && `The database that was there is kept as ${keptAside}.`,
    settings !== null &&
      (settings.isInForce
        ? `The settings of the backup are in ${settings.file}. Look through them where this is another machine.`
        : `posthorn.env of the data folder stays as it is. The settings of the backup are beside it, in ${settings.file}.`),
    !report.isSigned &&
      `secret.key does not vouch for this backup. ${UNSIGNED_RISK} Look through "posthorn keys list" and your channels before you start.`,
    missingFiles(report.missing, "not in the bucket any more"),
    ...describeDecided(report),
    report.held > 0 &&
      `${plural(report.held, "post was", "posts were")} due and may have gone out since the backup was made: none is sent again before the platform or you can tell.`,
    "Make sure that no other Posthorn goes on from the same data: two of them would publish everything twice.",
  ]);
}

type RestoreDecisions = RestoreResult["decided"];

/** What was decided since the backup was made, or what to do where that is not known. */
function describeDecided({ decided, keptAside }: RestoreResult): Line[] {
  const { unknown, counts, lostPosts, isSealed } = decided;
  if (unknown !== null) return describeUnknown(decided, unknown);
  const kept = KEPT.flatMap(([name, one, many]) => {
    const count = counts[name] ?? 0;
    return count === 0 ? [] : [plural(count, one, many)];
  });
  return [
    kept.length > 0 && `Decided since the backup was made, and kept: ${kept.join(", ")}.`,
    isSealed &&
      "Another secret key sealed the database that was there. So the calendar's address has ended, and calls that repeat an idempotency key of since are refused.",
    lostPosts.length > 0 &&
      `Posts of drafts that were approved since go to channels that the backup does not have. Connect these, then schedule the posts again: ${lostPosts.map(({ id, draftId }) => `${id} of ${draftId}`).join(", ")}. The database kept as ${keptAside} has them.`,
  ];
}

/** By their names in the report. */
const KEPT: readonly (readonly [name: keyof RestoreDecisions["counts"], one: string, many: string])[] = [
  ["keys", "key or program's access that was ended", "keys and programs' accesses that were ended"],
  ["channels", "channel that was disconnected or paused", "channels that were disconnected or paused"],
  ["webhooks", "webhook that was deleted", "webhooks that were deleted"],
  ["apps", "platform's app that was removed", "platforms' apps that were removed"],
  ["drafts", "draft that was decided", "drafts that were decided"],
  ["posts", "post that was sent, cancelled or made", "posts that were sent, cancelled or made"],
];

const NOT_KNOWN: Readonly<Record<Unknown, string>> = {
  absent: "No database was there",
  unreadable: "The database that was there cannot be read",
  unrelated: "The database that was there does not go on from that of the backup",
};

function describeUnknown({ counts, goodKeys }: RestoreDecisions, unknown: Unknown): Line[] {
  const { programs = 0, drafts = 0 } = counts;
  const keys = (goodKeys ?? []).map(({ id, name }) => `${name} (${id})`);
  return [
    `${NOT_KNOWN[unknown]}, so nothing tells what was decided since the backup was made. Look through your channels, webhooks, series and waiting posts.`,
    programs > 0 && `The access of ${plural(programs, "program")} has ended. Allow them again.`,
    keys.length > 0 &&
      `These keys are good, even if they were revoked since: ${keys.join(", ")}. To end one: posthorn keys revoke ID.`,
    drafts > 0 &&
      `${plural(drafts, "draft waits or is", "drafts wait or are")} being written, and may have been approved since: the first try to approve asks to look at the channel.`,
  ];
}

async function* toLines(rows: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const row of rows) yield `${JSON.stringify(worded({ ...row }).result)}\n`;
}

async function exportAll(
  host: Host,
  { ctx }: Shell,
  { file, owner: ownerId, force, csv }: Exporting,
): Promise<void> {
  const { exportOwner, writeExport } = await import("../../reporting/export.ts");
  const call = plainCall(ctx, localCaller({ ownerId }), host.stopSignal);
  const table = csv === true ? await exportPosts(call) : null;
  const lines = table?.lines ?? toLines(exportOwner(call, host.version));
  if (file === undefined) {
    for await (const line of lines) {
      host.stopSignal.throwIfAborted();
      host.terminal.print(line);
    }
  } else {
    const written = await writeExport(lines, { file, isForced: force === true, signal: host.stopSignal });
    const what =
      table === null
        ? plural(written, "line was", "lines were")
        : plural(table.posts, "post was", "posts were");
    host.terminal.tell(`${what} written to ${file}.\n`);
  }
  if (table === null) return;
  const { withOwnFiles, overdue } = table;
  printAll(host.terminal, [
    withOwnFiles > 0 &&
      `${plural(withOwnFiles, "post has", "posts have")} files that are stored here (r2://…), which a table does not hold. It imports again here. For another Posthorn take the files along: posthorn backup moves everything. Or upload each file there (posthorn upload FILE) and put its new address into the table.`,
    overdue > 0 &&
      `${plural(overdue, "waiting post is", "waiting posts are")} late and not in it: an import takes no time that is over.`,
  ]);
}
