import * as z from "zod";
import { Argument, type Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { Delivery, Webhook, WEBHOOK_FORMATS, type WebhookFormat } from "../../domain/webhooks/webhook.ts";
import type { Host, Session } from "../host.ts";
import { parseList, printResult } from "../options.ts";
import { shellCaller } from "../../access/api-keys.ts";
import { printList } from "../shell/views.ts";

/** A browser makes its own, with keys that are not typed. */
const FORMATS = WEBHOOK_FORMATS.filter((format) => format !== "standard" && format !== "push");

interface JsonOption {
  readonly json?: true;
}

interface AddOptions extends JsonOption {
  readonly events?: string;
  readonly accounts?: string;
}

export function addNotifyCommand(program: Command, host: Host): void {
  const notify = program
    .command("notify")
    .description("be told where you read along when something needs you")
    .addHelpText("after", HELP);
  notify
    .command("add")
    .description("have messages sent there")
    .addArgument(new Argument("<format>", "where you read").choices(FORMATS))
    .argument("[target]", "the address (without it, it is asked for and does not show while you type)")
    .option("--events <list>", "which events (default: what needs a person)")
    .option("--accounts <list>", "only these channels: names or ids, separated by commas (default: all)")
    .option("--json", "print JSON on a terminal, too")
    .action((format: WebhookFormat, target: string | undefined, options: AddOptions) =>
      add(host, { format, target, options }),
    );
  notify
    .command("test")
    .description("send a test to one, or to all")
    .argument("[id]", "from posthorn notify list (default: all)")
    .option("--json", "print JSON on a terminal, too")
    .action((id: string | undefined, options: JsonOption) => test(host, id, options));
  notify
    .command("list")
    .description("list where messages go, without tokens")
    .option("--json", "print JSON on a terminal, too")
    .action(async ({ json }: JsonOption) => {
      await using session = await host.openSession();
      await printList(host, session, { result: { webhooks: await listNotices(host, session) }, json });
    });
  notify
    .command("remove")
    .description("send no more messages there")
    .argument("<id>", "from posthorn notify list")
    .option("--json", "print JSON on a terminal, too")
    .action(async (id: string, { json }: JsonOption) => {
      await using session = await host.openSession();
      const result = One.parse(await call(host, session, "delete_webhook", { id }));
      printResult(host, { json, sentence: `No more messages go to ${result.webhook.url}.`, result });
    });
}

const HELP = `
Targets:
  ntfy      https://ntfy.sh/TOPIC, with a token as https://:TOKEN@ntfy.sh/TOPIC
  slack     the address of an incoming webhook, https://hooks.slack.com/services/…
  discord   the address of a channel's webhook, https://discord.com/api/webhooks/…
  telegram  telegram://TOKEN@CHAT: the bot's token, and the chat's number or @name
  email     someone@example.com (needs POSTHORN_SMTP_URL)

Posts that failed, channels that must be reconnected and drafts that wait for you are told, at most once a minute and
channel. --events digest.daily sends the plan of the day at eight.

Examples:
  posthorn notify add ntfy https://ntfy.sh/my-secret-topic
  posthorn notify add telegram                             asks for the target, which does not show
  posthorn notify add email me@example.com --events digest.daily
  posthorn notify test`;

const One = z.looseObject({ webhook: Webhook });
const Tested = z.looseObject({ webhook: Webhook, delivery: Delivery });
const Listed = z.looseObject({ webhooks: z.array(Webhook) });

type Result = Readonly<Record<string, unknown>>;

async function call(host: Host, { toolbox }: Session, tool: string, args: object): Promise<Result> {
  return (await toolbox.call(tool, args, shellCaller(), { signal: host.stopSignal })).result;
}

async function listNotices(host: Host, session: Session): Promise<Webhook[]> {
  const { webhooks } = Listed.parse(await call(host, session, "list_webhooks", {}));
  return webhooks.filter(({ format }) => format !== "standard");
}

interface Adding {
  readonly format: WebhookFormat;
  readonly target: string | undefined;
  readonly options: AddOptions;
}

async function add(host: Host, { format, target, options }: Adding): Promise<void> {
  const url = target ?? (await askTarget(host));
  await using session = await host.openSession();
  const { events, accounts, json } = options;
  const args = {
    url: url.trim(),
    format,
    ...(events === undefined ? {} : { events: parseList(events) }),
    ...(accounts === undefined ? {} : { accountId: parseList(accounts) }),
  };
  const { webhook } = One.parse(await call(host, session, "create_webhook", args));
  const sentence = `Messages go to ${webhook.url} from now on. Try it: posthorn notify test ${webhook.id}`;
  printResult(host, { json, sentence, result: { webhook } });
}

async function askTarget({ terminal, stopSignal }: Host): Promise<string> {
  if (!terminal.isInteractive)
    throw new AppError(
      "invalid",
      "target: give the address that messages go to. posthorn notify --help shows how.",
    );
  return terminal.ask("Target (does not show): ", { isHidden: true, signal: stopSignal });
}

/** Fails where one did not get through, so that a script notices. */
async function test(host: Host, id: string | undefined, { json }: JsonOption): Promise<void> {
  await using session = await host.openSession();
  const ids = id === undefined ? (await listNotices(host, session)).map((webhook) => webhook.id) : [id];
  if (ids.length === 0)
    throw new AppError("not_found", "No messages go anywhere yet. Begin with: posthorn notify add");
  const tests = [];
  for (const one of ids) tests.push(Tested.parse(await call(host, session, "test_webhook", { id: one })));
  const sentences = tests.map(
    ({ webhook, delivery }) => `${webhook.url}: ${delivery.error ?? "The test got through."}`,
  );
  printResult(host, { json, sentence: sentences.join("\n"), result: { tests } });
  const failed = tests.filter(({ delivery }) => delivery.error !== null).length;
  if (failed > 0)
    throw new AppError("unavailable", `${failed} of ${tests.length} tests did not get through.`);
}
