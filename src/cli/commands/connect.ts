import * as z from "zod";
import { localCaller } from "../../access/api-keys.ts";
import { namesOfAccounts } from "../../channels/accounts/accounts.ts";
import { describeReconnection } from "../../channels/accounts/late-posts.ts";
import type { ConnectTarget } from "../../channels/connecting/connect-target.ts";
import { plainCall } from "../../context.ts";
import type { Account } from "../../domain/accounts/account.ts";
import { AppError } from "../../domain/errors.ts";
import { type CommandArgs, JSON_TOO, type Row, row } from "../command.ts";
import type { Host } from "../host.ts";
import { parseJson, printResult, toJsonText } from "../options.ts";
import { inShell, type Shell } from "../shell/shell.ts";
import { showList } from "../shell/views.ts";

const CONNECT = {
  "[platform]": "the platform (without it, the platforms are listed)",
  "--handle <handle>": "the account's name there",
  "--instance <url>": "address of the server, where the platform has many",
  "--name <name>": "what the channel is called in Posthorn",
  "--way <way>": "one of the platform's ways to connect (default: the first that is set up)",
  "--targets <ids>": "of several channels found, connect these (ids separated by commas, or all)",
  "--account <id>": "reconnect this account instead of making a new one",
  "--secrets-stdin": "read the secrets as one JSON object from standard input instead of asking",
  "--json": JSON_TOO,
} as const;

type Connecting = CommandArgs<typeof CONNECT>;
type Secrets = Readonly<Record<string, string>>;

export const CONNECTING: Row = row({
  name: "connect",
  about: "connect a channel",
  takes: CONNECT,
  help: `
Passwords and tokens are asked for and do not show while you type. They are stored encrypted. Where you agree
on the platform's own page, the address to open is printed. If your browser cannot come back from there,
paste the address that it ended at. For programs the account is printed as JSON, several as a list.

Examples:
  posthorn connect bluesky --handle alice.example
  posthorn connect bluesky --handle alice.example --instance https://pds.example --secrets-stdin <<< '{"appPassword":"…"}'
  posthorn connect facebook --targets all
  posthorn connect feed --name "News"`,
  run: (given, host) =>
    given.platform === undefined && given.account === undefined
      ? inShell(host, undefined, showPlatforms)
      : inShell(host, given.json, (at) => connect(at, given)),
});

async function showPlatforms(at: Shell): Promise<void> {
  const { result } = await at.session.toolbox.call("list_platforms", {}, localCaller());
  at.terminal.print(at.isRead ? await showList(at, result) : toJsonText(result));
  at.terminal.tell(
    "Connect one with posthorn connect PLATFORM. posthorn doctor PLATFORM shows how to set it up.\n",
  );
}

async function connect(at: Shell, options: Connecting): Promise<void> {
  const [{ connectWithSecrets, readTarget }, { hasConsent }, { chooseChannels, connectByConsent }] =
    await Promise.all([
      import("../../channels/connecting/connections.ts"),
      import("../../channels/connecting/connect-page.ts"),
      import("./connect-by-consent.ts"),
    ]);
  const { ctx, host, session, terminal } = at;
  const { platform, way, targets, account, instance, handle, name } = options;
  // An empty text leaves an option out, as it does in connect_channel.
  const args = {
    provider: platform,
    way: way || undefined,
    accountId: account || undefined,
    instanceUrl: instance || undefined,
    handle,
    name,
  };
  const target = await readTarget(ctx, localCaller(), args);
  if (options.secretsStdin === true && target.way.kind !== "secrets") throw takesNone(target);
  const release = await describeReconnection(ctx, target.reconnecting);
  if (release !== null) terminal.tell(`${release}\n`);
  if (hasConsent(target))
    return await print(at, options, await connectByConsent(host, session, { ...args, targets }));
  const secrets = await readSecrets(host, target, options);
  const signal = host.stopSignal;
  const { accounts, notice, shownOnce } = await connectWithSecrets(plainCall(ctx, localCaller(), signal), {
    ...args,
    secrets,
    choose: (channels) => chooseChannels({ terminal, targets, signal }, channels),
  });
  await print(at, options, accounts);
  for (const text of [notice, shownOnce]) if (text !== null) terminal.tell(`${text}\n`);
}

/** One account as an object, several as a list. */
async function print(at: Shell, { json }: Connecting, accounts: readonly Account[]): Promise<void> {
  const names = await namesOfAccounts({ ctx: at.ctx, caller: localCaller() });
  const told = accounts.map(({ id, name, provider, handle }) => {
    const also = handle === null || handle === name ? "" : `, ${handle}`;
    return `"${name}" (${provider}${also}) is connected as ${id}.`;
  });
  const [first] = accounts;
  if (first !== undefined)
    told.push(`Post there with posthorn post "Hello" --on "${names.get(first.id) ?? first.name}".`);
  const result = accounts.length === 1 ? first : accounts;
  printResult(at.host, { json, sentence: told.join("\n"), result });
  for (const { id, name } of accounts) {
    const called = names.get(id) ?? name;
    if (called !== name)
      at.terminal.tell(
        `Another channel is called "${name}", too: --on "${name}" is refused from now on. Say --on "${called}", or give one of them another name: posthorn call update_account '${JSON.stringify({ accountId: id, name: "…" })}'.\n`,
      );
  }
}

async function readSecrets(
  host: Host,
  { platform, way, reconnecting }: ConnectTarget,
  options: Connecting,
): Promise<Secrets> {
  if (way.kind !== "secrets") return {};
  if (options.secretsStdin === true) return parseSecrets(await host.terminal.readAll(), way.fields);
  if (!host.terminal.isInteractive) {
    const fields = way.fields.map((field) => field.name).join(", ");
    throw new AppError(
      "invalid",
      `${platform.title} needs secrets, and no person can be asked. Add --secrets-stdin and give them as one JSON object on standard input (${fields}).`,
    );
  }
  const steps = (way.steps ?? []).map((step, at) => `${at + 1}. ${step}\n`);
  const toCopy = way.toCopy === undefined ? "" : `\n${way.toCopy}\n`;
  host.terminal.tell(`${way.instructions}\n${steps.join("")}${toCopy}\n`);
  const keepsStored = reconnecting !== null && reconnecting.status !== "reconnect_required";
  return askFields(host, { fields: way.fields, options, keepsStored });
}

/** Nothing that is piped in is dropped, or waited past. */
function takesNone({ platform, way }: ConnectTarget): AppError {
  const others = platform.connect.filter(({ kind }) => kind === "secrets").map(({ name }) => `--way ${name}`);
  const next = others.length === 0 ? "Leave it out." : `Leave it out, or add ${others.join(" or ")}.`;
  return new AppError(
    "invalid",
    `--secrets-stdin: the way "${way.name}" of ${platform.title} takes no secrets${way.kind === "none" ? "" : ": you agree in a browser"}. ${next}`,
  );
}

const SecretsObject = z.record(z.string(), z.string());

function parseSecrets(text: string, fields: SecretsWay["fields"]): Secrets {
  const needed = fields.filter(({ isRequired }) => isRequired).map(({ name }) => [name, "…"] as const);
  const advice = `Give one JSON object of strings on standard input: ${JSON.stringify(Object.fromEntries(needed))}.`;
  const value = parseJson({ source: "--secrets-stdin", text, advice, isSecret: true });
  const parsed = SecretsObject.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError("invalid", `--secrets-stdin: this is not an object of strings. ${advice}`);
}

type SecretsWay = Extract<ConnectTarget["way"], { readonly kind: "secrets" }>;

interface Asking {
  readonly fields: SecretsWay["fields"];
  readonly options: Connecting;
  /** Whether what is left empty stays as it is stored. */
  readonly keepsStored: boolean;
}

async function askFields(host: Host, { fields, options, keepsStored }: Asking): Promise<Secrets> {
  const values: Record<string, string> = {};
  for (const field of fields) {
    // The option says it already; the service puts it in the field's place.
    if (field.name === "handle" && options.handle !== undefined) continue;
    host.terminal.tell(`${field.help}\n`);
    const mark = field.isRequired && !keepsStored ? "" : " (empty to skip)";
    const isHidden = field.isSecret && field.isSeen !== true;
    const hidden = isHidden ? " (does not show)" : "";
    const answer = await host.terminal.ask(`${field.label}${mark}${hidden}: `, {
      isHidden,
      signal: host.stopSignal,
    });
    if (answer !== "") values[field.name] = answer;
  }
  return values;
}
