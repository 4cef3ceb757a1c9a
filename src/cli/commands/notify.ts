import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { Delivery, Webhook, WEBHOOK_FORMATS } from "../../domain/webhooks/webhook.ts";
import { group, JSON_TOO, oneOf, type Row, row } from "../command.ts";
import type { Host } from "../host.ts";
import { parseList, printResult } from "../options.ts";
import { inShell, type Shell, shellRow } from "../shell/shell.ts";
import { showList } from "../shell/views.ts";

/** A browser makes its own, with keys that are not typed. */
const FORMATS = WEBHOOK_FORMATS.filter((format) => format !== "standard" && format !== "push");

const One = z.looseObject({ webhook: Webhook });
const Tested = z.looseObject({ webhook: Webhook, delivery: Delivery });
const Listed = z.looseObject({ webhooks: z.array(Webhook) });

export const NOTIFY: readonly Row[] = [
  group(
    "notify",
    "be told where you read along when something needs you",
    `
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
  posthorn notify test`,
  ),
  row({
    name: "notify add",
    about: "have messages sent there",
    takes: {
      "<format>": oneOf("where you read", FORMATS),
      "[target]": "the address (without it, it is asked for and does not show while you type)",
      "--events <list>": "which events (default: what needs a person)",
      "--accounts <list>": "only these channels: names or ids, separated by commas (default: all)",
      "--json": JSON_TOO,
    },
    async run({ format, target, events, accounts, json }, host) {
      const url = (target ?? (await askTarget(host))).trim();
      await inShell(host, json, async (at) => {
        const args = {
          url,
          format,
          ...(events !== undefined && { events: parseList(events) }),
          ...(accounts !== undefined && { accountId: parseList(accounts) }),
        };
        const { webhook } = One.parse(await at.use("create_webhook", args));
        const sentence = `Messages go to ${webhook.url} from now on. Try it: posthorn notify test ${webhook.id}`;
        printResult(host, { json, sentence, result: { webhook } });
      });
    },
  }),
  shellRow({
    name: "notify test",
    about: "send a test to one, or to all",
    takes: { "[id]": "from posthorn notify list (default: all)", "--json": JSON_TOO },
    async answer(at, { id }) {
      const ids = id === undefined ? (await listNotices(at)).map((webhook) => webhook.id) : [id];
      if (ids.length === 0)
        throw new AppError("not_found", "No messages go anywhere yet. Begin with: posthorn notify add");
      const tests = [];
      for (const one of ids) tests.push(Tested.parse(await at.use("test_webhook", { id: one })));
      return { tests };
    },
    view: (_, { tests }) =>
      tests
        .map(({ webhook, delivery }) => `${webhook.url}: ${delivery.error ?? "The test got through."}\n`)
        .join(""),
    // A script shall notice where one did not get through.
    after(_, { tests }) {
      const failed = tests.filter(({ delivery }) => delivery.error !== null).length;
      if (failed > 0)
        throw new AppError("unavailable", `${failed} of ${tests.length} tests did not get through.`);
    },
  }),
  shellRow({
    name: "notify list",
    about: "list where messages go, without tokens",
    takes: { "--json": JSON_TOO },
    answer: async (at) => ({ webhooks: await listNotices(at) }),
    view: showList,
  }),
  shellRow({
    name: "notify remove",
    about: "send no more messages there",
    takes: { "<id>": "from posthorn notify list", "--json": JSON_TOO },
    answer: async (at, { id }) => One.parse(await at.use("delete_webhook", { id })),
    view: (_, { webhook }) => `No more messages go to ${webhook.url}.\n`,
  }),
];

async function listNotices(at: Shell): Promise<Webhook[]> {
  const { webhooks } = Listed.parse(await at.use("list_webhooks", {}));
  return webhooks.filter(({ format }) => format !== "standard");
}

async function askTarget({ terminal, stopSignal }: Host): Promise<string> {
  if (!terminal.isInteractive)
    throw new AppError(
      "invalid",
      "target: give the address that messages go to. posthorn notify --help shows how.",
    );
  return terminal.ask("Target (does not show): ", { isHidden: true, signal: stopSignal });
}
