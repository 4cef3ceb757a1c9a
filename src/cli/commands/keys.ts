import type { Command } from "commander";
import { DEFAULT_KEY_ROLE, PERMISSIONS } from "../../domain/permissions.ts";
import { type ApiKey, localCaller } from "../../access/api-keys.ts";
import { tellTime } from "../../domain/time.ts";
import { type CallContext, plainCall } from "../../context.ts";
import type { Host, Session } from "../host.ts";
import {
  ownerOption,
  parseList,
  type PermissionOptions,
  printResult,
  readPermissionOptions,
  roleOption,
  toJsonText,
} from "../options.ts";
import { toTable } from "../shell/table.ts";
import { readBound } from "../../domain/arguments/spoken-times.ts";

const ISO_DATE_CHARS = "2026-11-21".length;

interface CreateOptions extends PermissionOptions {
  readonly owner: string;
  readonly name?: string;
  readonly expires?: string;
  readonly accounts?: string;
  readonly json?: true;
}

export function addKeysCommand(program: Command, host: Host): void {
  const keys = program
    .command("keys")
    .description("create, list and revoke API keys, or replace the secret key")
    .addHelpText("after", EXAMPLES);
  keys
    .command("create")
    .description("make a key, which is shown only once")
    .addOption(ownerOption("whose data it reaches"))
    .option("--name <name>", "what you recognise it by in lists")
    .addOption(roleOption(`what it may do (default: ${DEFAULT_KEY_ROLE})`))
    .option("--permissions <list>", `instead of --role, any of ${PERMISSIONS.join(",")}`)
    .option("--expires <when>", "a date, a time or a span such as 90d (default: never)")
    .option("--accounts <list>", "ids of the only accounts it reaches (default: all)")
    .option("--json", "print JSON on a terminal, too")
    .action((options: CreateOptions) => create(host, options));
  keys
    .command("list")
    .description("list the keys of an owner, without their secrets")
    .option("--json", "print JSON on a terminal, too")
    .addOption(ownerOption("whose keys"))
    .action(async ({ owner, json }: { owner: string; json?: true }) => {
      const { listKeys } = await import("../../access/api-keys.ts");
      await using session = await host.openSession();
      const result = await listKeys(callOf(session, owner));
      const { isScreen, columns } = host.terminal;
      host.terminal.print(isScreen && json !== true ? showKeys(result.keys, columns) : toJsonText(result));
    });
  keys
    .command("revoke")
    .description("end a key at once")
    .argument("<key>", "its id (key_… or without the prefix), or the whole key")
    .addOption(ownerOption("whose key"))
    .action(async (key: string, { owner }: { owner: string }) => {
      const { revokeKey } = await import("../../access/api-keys.ts");
      await using session = await host.openSession();
      host.terminal.print(toJsonText(await revokeKey(callOf(session, owner), { key })));
    });
  keys
    .command("rotate-secret")
    .description(
      "replace secret.key, and seal every stored token anew, while nothing runs on the data folder",
    )
    .option("--keep-old <file>", "write the old key to this file: backups made until now need it")
    .addHelpText(
      "after",
      "\nA crash at any moment leaves a folder that opens. Signed addresses and confirmations given out before stop working. API keys still work.",
    )
    .action((options: { keepOld?: string }) => rotate(host, options.keepOld ?? null));
}

const EXAMPLES = `
Examples:
  posthorn keys create --name "Nightly script" --expires 90d
  posthorn keys create --name Reports --role viewer
  posthorn keys create --owner alice --accounts acc_…,acc_…
  posthorn keys list
  posthorn keys revoke key_…
  posthorn keys rotate-secret --keep-old /mnt/safe/secret.key.old`;

function callOf({ ctx }: Session, ownerId: string): CallContext {
  return plainCall(ctx, localCaller({ ownerId }));
}

async function create(host: Host, options: CreateOptions): Promise<void> {
  const { createKey } = await import("../../access/api-keys.ts");
  await using session = await host.openSession();
  const created = await createKey(callOf(session, options.owner), {
    name: options.name,
    permissions: readPermissionOptions(options),
    accountIds: options.accounts === undefined ? undefined : parseList(options.accounts),
    expires: readExpiry(session, options.expires),
  });
  const { key, apiKey } = created;
  const sentence = `The key "${apiKey.name}" (${apiKey.id}) is:\n${key}`;
  printResult(host, { json: options.json, sentence, result: created });
  host.terminal.tell(`${explainKey(apiKey, options, session.ctx.settings.timezone)}
Store the key now: only its fingerprint is kept, and it is not shown again.\n`);
}

/** A time as anywhere at the shell. Spans are the service's to read, and what is neither is its to refuse. */
function readExpiry({ ctx }: Session, expires: string | undefined): string | undefined {
  if (expires === undefined) return undefined;
  try {
    return readBound(expires, { now: ctx.clock.now(), timezone: ctx.settings.timezone });
  } catch {
    return expires;
  }
}

/** What holds without having been asked for. */
function explainKey(
  { role: name, permissions, expiresAt }: ApiKey,
  options: CreateOptions,
  timezone: string,
): string {
  const isChosen = options.role !== undefined || options.permissions !== undefined;
  const held = `the permissions ${permissions.join(", ")}`;
  const may = name === null ? `It has ${held}.` : `Its role is ${name}: it has ${held}.`;
  const role = isChosen ? "" : " Ask for another role with --role, for everything with --role admin.";
  const ends =
    expiresAt === null
      ? "never expires. --expires 90d makes one that does"
      : `expires on ${tellTime(Date.parse(expiresAt), timezone)}`;
  return `${may}${role} It ${ends}.`;
}

function showKeys(keys: readonly ApiKey[], width: number): string {
  if (keys.length === 0) return "None.\n";
  return toTable<ApiKey>(
    [
      { title: "NAME", of: ({ name }) => name, isCut: true },
      { title: "STATUS", of: ({ status }) => status },
      { title: "MAY", of: ({ role, permissions }) => role ?? permissions.join(","), isCut: true },
      { title: "EXPIRES", of: ({ expiresAt }) => expiresAt?.slice(0, ISO_DATE_CHARS) ?? "never" },
      { title: "LAST USED", of: ({ lastUsedAt }) => lastUsedAt?.slice(0, ISO_DATE_CHARS) ?? "never" },
      { title: "ID", of: ({ id }) => id },
    ],
    keys,
    width,
  );
}

async function rotate(host: Host, oldKeyFile: string | null): Promise<void> {
  const { newKeyFile, ...rotation } = await host.rotateSecret({ oldKeyFile });
  host.terminal.print(toJsonText(rotation));
  if (rotation.unreadable > 0) {
    const values = rotation.unreadable === 1 ? "1 value" : `${rotation.unreadable} values`;
    host.terminal.tell(`${values} could not be read with the old key either. Connect those channels anew.\n`);
  }
  if (newKeyFile !== null) {
    host.terminal.tell(
      `The new key stands in ${newKeyFile}. Put it on every host before you start them (POSTHORN_SECRET_KEY or POSTHORN_SECRET_KEY_FILE): with the old one they do not start.\n`,
    );
  }
  const old = oldKeyFile === null ? "which was not kept" : `which is in ${oldKeyFile}`;
  host.terminal.tell(
    `Keep a copy of the new secret.key. Backups made until now need the old one, ${old}: make a new backup.\n`,
  );
}
