import { type ApiKey, createKey, listKeys, localCaller, revokeKey } from "../../access/api-keys.ts";
import { type CallContext, plainCall } from "../../context.ts";
import { readBound } from "../../domain/arguments/spoken-times.ts";
import { DEFAULT_KEY_ROLE, PERMISSIONS } from "../../domain/permissions.ts";
import { plural } from "../../domain/text/plain-text.ts";
import { formatTime } from "../../domain/time.ts";
import { group, JSON_TOO, owner, role, type Row, row } from "../command.ts";
import type { Host } from "../host.ts";
import { parseList, type PermissionOptions, readPermissionOptions, toJsonText } from "../options.ts";
import { inShell, type Shell, shellRow } from "../shell/shell.ts";
import { toTable } from "../shell/table.ts";

const ISO_DATE_CHARS = "2026-11-21".length;

export const KEYS: readonly Row[] = [
  group(
    "keys",
    "create, list and revoke API keys, or replace the secret key",
    `
Examples:
  posthorn keys create --name "Nightly script" --expires 90d
  posthorn keys create --name Reports --role viewer
  posthorn keys create --owner alice --accounts acc_…,acc_…
  posthorn keys list
  posthorn keys revoke key_…
  posthorn keys rotate-secret --keep-old /mnt/safe/secret.key.old`,
  ),
  shellRow({
    name: "keys create",
    about: "make a key, which is shown only once",
    takes: {
      "--owner <owner>": owner("whose data it reaches"),
      "--name <name>": "what you recognise it by in lists",
      "--role <role>": role(`what it may do (default: ${DEFAULT_KEY_ROLE})`),
      "--permissions <list>": `instead of --role, any of ${PERMISSIONS.join(",")}`,
      "--expires <when>": "a date, a time or a span such as 90d (default: never)",
      "--accounts <list>": "ids of the only accounts it reaches (default: all)",
      "--json": JSON_TOO,
    },
    answer: (at, { name, accounts, expires, ...given }) =>
      createKey(callOf(at, given.owner), {
        name,
        permissions: readPermissionOptions(given),
        accountIds: accounts === undefined ? undefined : parseList(accounts),
        expires: readExpiry(at, expires),
      }),
    view: (_, { key, apiKey }) => `The key "${apiKey.name}" (${apiKey.id}) is:\n${key}\n`,
    after: (at, { apiKey }, given) =>
      at.terminal.tell(`${explainKey(apiKey, given, at.timezone)}
Store the key now: only its fingerprint is kept, and it is not shown again.\n`),
  }),
  shellRow({
    name: "keys list",
    about: "list the keys of an owner, without their secrets",
    takes: { "--json": JSON_TOO, "--owner <owner>": owner("whose keys") },
    answer: (at, given) => listKeys(callOf(at, given.owner)),
    view: ({ terminal }, { keys }) => showKeys(keys, terminal.columns),
  }),
  row({
    name: "keys revoke",
    about: "end a key at once",
    takes: {
      "<key>": "its id (key_… or without the prefix), or the whole key",
      "--owner <owner>": owner("whose key"),
    },
    run: ({ key, owner: ownerId }, host) =>
      inShell(host, true, async (at) =>
        at.terminal.print(toJsonText(await revokeKey(callOf(at, ownerId), { key }))),
      ),
  }),
  row({
    name: "keys rotate-secret",
    about: "replace secret.key, and seal every stored token anew, while nothing runs on the data folder",
    takes: { "--keep-old <file>": "write the old key to this file: backups made until now need it" },
    help: "\nA crash at any moment leaves a folder that opens. Signed addresses and confirmations given out before stop working. API keys still work.",
    run: ({ keepOld = null }, host) => rotate(host, keepOld),
  }),
];

function callOf({ ctx }: Shell, ownerId: string): CallContext {
  return plainCall(ctx, localCaller({ ownerId }));
}

/** A time as anywhere at the shell. Spans are the service's to read, and what is neither is its to refuse. */
function readExpiry(at: Shell, expires: string | undefined): string | undefined {
  if (expires === undefined) return undefined;
  try {
    return readBound(expires, at.now());
  } catch {
    return expires;
  }
}

/** What holds without having been asked for. */
function explainKey(
  { role: name, permissions, expiresAt }: ApiKey,
  options: PermissionOptions,
  timezone: string,
): string {
  const isChosen = options.role !== undefined || options.permissions !== undefined;
  const held = `the permissions ${permissions.join(", ")}`;
  const may = name === null ? `It has ${held}.` : `Its role is ${name}: it has ${held}.`;
  const role = isChosen ? "" : " Ask for another role with --role, for everything with --role admin.";
  const ends =
    expiresAt === null
      ? "never expires. --expires 90d makes one that does"
      : `expires on ${formatTime(Date.parse(expiresAt), timezone)}`;
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
    const values = plural(rotation.unreadable, "value");
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
