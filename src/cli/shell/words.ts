import type { Command } from "commander";
import { Message, type NextStep, type Said, say } from "../../domain/sentences.ts";
import { EXAMPLE_TIME } from "../../domain/time.ts";
import { agentsWords, type SentencesAt, type StepWords, wordsBy } from "../../toolkit/words.ts";

/** What can be done, in commands. `id`: of the post that a sentence is about, where its step does not say. */
const inCommands = (id: string): StepWords => ({
  list: ({ of }) => LISTS[of],
  see: ({ of }) => `Look at ${COMMANDS[of]}.`,
  reconnect: ({ provider, accountId }) => `Run posthorn connect ${provider} --account ${accountId}.`,
  connect_again: () => "Run posthorn connect again for a new address.",
  check_connection: ({ connectId }) =>
    `Run posthorn call check_connection '${JSON.stringify({ connectId })}' to see how far they are.`,
  look: ({ postId }) => `Look again with posthorn show${argument(postId)} in a moment.`,
  look_later: ({ postId }) => `Look with posthorn show${argument(postId)} later to see what became of it.`,
  pause: () => "To hold it longer, run posthorn pause.",
  see_each: () => "See with posthorn show what becomes of each.",
  stop_if_not_meant: () => "If that was not meant, run posthorn cancel with --from-platform.",
  approve_drafts: () => "posthorn drafts shows them, posthorn approve approves them.",
  look_at_each: ({ postIds }) => `Look again in a moment with posthorn show: ${postIds.join(", ")}.`,
  read: ({ postId }) => `Read it with posthorn show${argument(postId)}.`,
  edit: () => "Change it with posthorn edit.",
  edit_live: () => "Change it with posthorn edit.",
  cancel: () => "Stop it with posthorn cancel.",
  take_down: () => "To delete it on the platform, run posthorn cancel with --from-platform.",
  move: () => "posthorn move does that.",
  retry: ({ changed }) =>
    changed
      ? "To mend it, run posthorn retry with what is to be changed (--text, --media, --set, --at)."
      : "Run posthorn retry, which asks the platform first.",
  send_again: ({ postIds }) => `posthorn retry does that: ${postIds.join(", ")}.`,
  read_insights: () => `posthorn call get_post '{"id":"post_…","insights":true}' tells those of one post.`,
  settle: ({ postId, of }) => {
    const place = of === "place" ? { platformPostId: "…" } : {};
    const call = `Settle it with posthorn call resolve_post '${JSON.stringify({ id: postId ?? id, outcome: "published", ...place })}'`;
    const other = of === "place" ? "" : ' (or "not_published")';
    return `${call}${other}${of === undefined ? ", or posthorn dismiss where it is not wanted any more" : ""}.`;
  },
  dismiss: () => "To put it away, run posthorn dismiss.",
  schedule: () => "Only where it is wanted after all, schedule a new one with posthorn post.",
  choose: ({ field }) =>
    `posthorn call list_choices '${JSON.stringify({ accountId: "CHANNEL", field })}' tells the values.`,
  set_slots: ({ accountId }) =>
    `Set slots with posthorn slots ${accountId ?? "CHANNEL"} "mon,thu 09:30", or give another time.`,
  give: ({ what }) => `Give ${what}.`,
  use_fields: (step) => agentsWords(say("", { next: [step] })),
  give_time: ({ isFuture }) =>
    isFuture ? "Give a time in the future." : `Give ISO 8601, for example ${EXAMPLE_TIME}.`,
  add_media: () => "Give an https address, or a file.",
  draft: ({ takes }) => `posthorn call save_draft takes ${takes}.`,
  read_draft: () => "posthorn drafts shows it as it is now.",
  move_draft: () =>
    "To move one, run posthorn call save_draft with another time. To put one away, discard it.",
  discard_draft: () => "To put it away, run posthorn approve with --discard.",
  end_series: () =>
    "To end the series, run posthorn approve with --stop. To change it, then write a new one.",
  stop_series: () =>
    "To stop a series, run posthorn approve with --stop. One time of it can be changed once its post is made, about two weeks before.",
  change_posts_of_draft: () => "Change its posts with posthorn edit, or cancel them with posthorn cancel.",
  upload: () => "posthorn upload brings one in.",
  upload_local: () => "A file of this machine: posthorn upload brings it in first.",
  test_webhook: () => "Once posthorn call test_webhook succeeds it is on again.",
  ask_person: () => "",
  decide_as_person: ({ tool }) =>
    tool === null ? "posthorn drafts shows what waits." : `Run posthorn call ${tool}.`,
  stay_in_role: () => "",
  leave_to_person: () => "",
  run: ({ command, of }) => RUN[command](of),
});

function argument(id: string | null): string {
  return id === null ? "" : ` ${id}`;
}

type Lists = Readonly<Record<Extract<NextStep, { do: "list" }>["of"], string>>;

const COMMANDS: Lists = {
  accounts: "posthorn accounts",
  posts: "posthorn list",
  drafts: "posthorn drafts",
  files: "posthorn call list_files",
  webhooks: "posthorn notify",
  platforms: "posthorn connect",
  connections: "posthorn connect",
  choices: "posthorn call list_choices",
};

const LISTS: Lists = {
  accounts: "Take channels from posthorn accounts.",
  posts: "Take ids from posthorn list.",
  drafts: "Take ids from posthorn drafts.",
  files: "Take files from posthorn call list_files.",
  webhooks: "Take ids from posthorn notify.",
  platforms: "posthorn connect tells what there is.",
  connections: "posthorn connect begins another one.",
  choices: "Take it from posthorn call list_choices.",
};

const RUN: Readonly<Record<Extract<NextStep, { do: "run" }>["command"], (of: string | null) => string>> = {
  open: () => "Run posthorn open.",
  make_key: () => "posthorn keys create makes one.",
  doctor: (of) => (of === null ? "Run posthorn doctor." : `posthorn doctor ${of} prints the steps.`),
  setup: (of) => `Run posthorn setup${argument(of)}.`,
  restore: () => "A backup is restored with: posthorn restore FILE.",
  serve: () => "`posthorn service install` keeps one running, `posthorn serve` does until it is stopped.",
  move_database: () => "Run posthorn migrate-database again.",
};

/** The text with commands for what can be done. `id`: of the post that it is about. */
export function forShell(said: Said, id = "post_…"): string {
  return wordsBy(inCommands(id))(said);
}

/** The same for the strings of a tool's answer, which is in the words of agents. */
export function shellWordsOf(sentences: SentencesAt): (text: string) => string {
  const all = Object.values(sentences).map((one) => new Message(one));
  const byText = new Map(all.map((one) => [agentsWords(one), one]));
  return (text) => forShell(byText.get(text) ?? text);
}

/** A refusal with the options in which this command was given its fields. */
export function refusalForShell(said: Message, command: Command): string {
  return said.sentences.map((one) => withOptions(forShell(new Message([one])), command)).join(" ");
}

/** The option or argument of a command in which a field is given, where it is called otherwise. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  accountId: ["on", "channel", "account"],
  accountIds: ["accounts"],
  scheduledAt: ["at", "when"],
  slot: ["at"],
  caption: ["text"],
  mediaUrl: ["media"],
  moreMedia: ["media"],
  altText: ["alt"],
  labels: ["label"],
  provider: ["platform"],
  instanceUrl: ["instance"],
  path: ["file"],
  url: ["file"],
  arguments: ["json"],
};

const FIELD = /^(?:(?:posts|targets)\[\d+\]\.)?(metadata\.)?([a-z]\w*)(?:\[\d+\]\S*)?: /i;

/** Each line with the option in front in which that command was given the field. */
export function withOptions(text: string, command: Command): string {
  const told = text
    .split("\n")
    .map((line) =>
      line.replace(FIELD, (whole, isOwn: string | undefined, field: string) => {
        const place = placeOf(command, { field, isOwn: isOwn !== undefined });
        return place === null ? whole : `${place}: `;
      }),
    )
    .join("\n");
  const on = placeOf(command, { field: "accountId", isOwn: false });
  return on === null ? told : told.replaceAll(/\bgive accountId\b/g, `give ${on}`);
}

function placeOf(
  command: Command,
  { field, isOwn }: { readonly field: string; readonly isOwn: boolean },
): string | null {
  for (const name of [field, ...(PLACES[field] ?? [])]) {
    if (command.registeredArguments.some((one) => one.name() === name)) return name;
    const option = command.options.find((one) => one.attributeName() === name);
    if (option?.long !== undefined) return option.long;
  }
  // What has no option of its own is given as --set key=value.
  return isOwn && command.options.some(({ long }) => long === "--set") ? `--set ${field}` : null;
}
