import * as z from "zod";
import type { Command } from "commander";
import type { Account } from "../../domain/accounts/account.ts";
import { AppError } from "../../domain/errors.ts";
import type { ConnectTarget } from "../../connecting/connect-target.ts";
import { plainCall } from "../../context.ts";
import { tellReconnection } from "../../accounts/late-posts.ts";
import { namesOfAccounts } from "../../accounts/accounts.ts";
import type { Host, Session } from "../host.ts";
import { parseJson, printResult } from "../options.ts";
import { localCaller } from "../../access/api-keys.ts";
import { printList } from "../shell/views.ts";

interface ConnectOptions {
  readonly handle?: string;
  readonly instance?: string;
  readonly name?: string;
  readonly account?: string;
  readonly way?: string;
  readonly targets?: string;
  readonly secretsStdin?: true;
  readonly json?: true;
}

type Secrets = Readonly<Record<string, string>>;

export function addConnectCommand(program: Command, host: Host): void {
  program
    .command("connect")
    .description("connect a channel")
    .argument("[platform]", "the platform (without it, the platforms are listed)")
    .option("--handle <handle>", "the account's name there")
    .option("--instance <url>", "address of the server, where the platform has many")
    .option("--name <name>", "what the channel is called in Posthorn")
    .option("--way <way>", "one of the platform's ways to connect (default: the first that is set up)")
    .option("--targets <ids>", "of several channels found, connect these (ids separated by commas, or all)")
    .option("--account <id>", "reconnect this account instead of making a new one")
    .option("--secrets-stdin", "read the secrets as one JSON object from standard input instead of asking")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
Passwords and tokens are asked for and do not show while you type. They are stored encrypted. Where you agree
on the platform's own page, the address to open is printed. If your browser cannot come back from there,
paste the address that it ended at. For programs the account is printed as JSON, several as a list.

Examples:
  posthorn connect bluesky --handle alice.example
  posthorn connect bluesky --handle alice.example --instance https://pds.example --secrets-stdin <<< '{"appPassword":"…"}'
  posthorn connect facebook --targets all
  posthorn connect feed --name "News"`,
    )
    .action((platform: string | undefined, options: ConnectOptions) =>
      platform === undefined && options.account === undefined
        ? showPlatforms(host)
        : connect(host, platform, options),
    );
}

async function showPlatforms(host: Host): Promise<void> {
  await using session = await host.openSession();
  const { result } = await session.toolbox.call("list_platforms", {}, localCaller());
  await printList(host, session, { result });
  host.terminal.tell(
    "Connect one with posthorn connect PLATFORM. posthorn doctor PLATFORM shows how to set it up.\n",
  );
}

async function connect(host: Host, provider: string | undefined, options: ConnectOptions): Promise<void> {
  const [{ readTarget }, { hasConsent }] = await Promise.all([
    import("../../connecting/connections.ts"),
    import("../../connecting/connect-page.ts"),
  ]);
  await using session = await host.openSession();
  const { way, targets } = options;
  const { account, instance, handle, name } = options;
  // An empty text leaves an option out, as it does in connect_channel.
  const args = {
    provider,
    way: way || undefined,
    accountId: account || undefined,
    instanceUrl: instance || undefined,
    handle,
    name,
  };
  const target = await readTarget(session.ctx, localCaller(), args);
  if (options.secretsStdin === true && target.way.kind !== "secrets") throw takesNone(target);
  const release = await tellReconnection(session.ctx, target.reconnecting);
  if (release !== null) host.terminal.tell(`${release}\n`);
  if (hasConsent(target)) {
    const { connectByConsent } = await import("./connect-by-consent.ts");
    return print({ host, session, options }, await connectByConsent(host, session, { ...args, targets }));
  }
  const { connectWithSecrets } = await import("../../connecting/connections.ts");
  const secrets = await readSecrets(host, target, options);
  const { accounts, notice, shownOnce } = await connectWithSecrets(
    plainCall(session.ctx, localCaller(), host.stopSignal),
    {
      ...args,
      secrets,
      choose: async (channels) => {
        const { chooseChannels } = await import("./connect-by-consent.ts");
        return chooseChannels({ terminal: host.terminal, targets, signal: host.stopSignal }, channels);
      },
    },
  );
  await print({ host, session, options }, accounts);
  for (const text of [notice, shownOnce]) if (text !== null) host.terminal.tell(`${text}\n`);
}

/** One account as an object, several as a list. */
async function print(
  { host, session, options }: { host: Host; session: Session; options: ConnectOptions },
  accounts: readonly Account[],
): Promise<void> {
  const names = await namesOfAccounts({ ctx: session.ctx, caller: localCaller() });
  const named = accounts.map(({ id, name, provider, handle }) => {
    const also = handle === null || handle === name ? "" : `, ${handle}`;
    return `"${name}" (${provider}${also}) is connected as ${id}.`;
  });
  const [first] = accounts;
  const next =
    first === undefined
      ? []
      : [`Post there with posthorn post "Hello" --on "${names.get(first.id) ?? first.name}".`];
  const result = accounts.length === 1 ? first : accounts;
  printResult(host, { json: options.json, sentence: [...named, ...next].join("\n"), result });
  for (const { id, name } of accounts) {
    const called = names.get(id) ?? name;
    if (called !== name)
      host.terminal.tell(
        `Another channel is called "${name}", too: --on "${name}" is refused from now on. Say --on "${called}", or give one of them another name: posthorn call update_account '${JSON.stringify({ accountId: id, name: "…" })}'.\n`,
      );
  }
}

async function readSecrets(
  host: Host,
  { platform, way, reconnecting }: ConnectTarget,
  options: ConnectOptions,
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
  readonly options: ConnectOptions;
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
