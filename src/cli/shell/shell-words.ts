import type { Command } from "commander";
import type { Said } from "../../domain/sentences.ts";
import { agentsWords } from "../../toolkit/words.ts";

/*
 * Sentences are written for every face, and name tools and fields. At a shell the same things are commands and options.
 */

/** The command that does what a tool does. Every other tool is called by its name. */
const COMMANDS: Readonly<Record<string, string>> = {
  schedule_post: "post",
  schedule_posts: "post",
  update_post: "edit",
  edit_published_post: "edit",
  change_posts: "move",
  cancel_post: "cancel",
  get_post: "show",
  retry_post: "retry",
  list_posts: "list",
  list_accounts: "accounts",
  list_platforms: "connect",
  connect_channel: "connect",
  disconnect_channel: "disconnect",
  save_draft: "draft",
  list_drafts: "drafts",
  decide_draft: "approve",
  import_posts: "import",
  upload_file: "upload",
  get_status: "status",
  get_report: "report",
};

const VERBS: readonly string[] = (
  "cancel change check connect create decide delete disconnect edit get import list replay resolve retry save schedule " +
  "set show test update upload"
).split(" ");

const RESOLVE = `posthorn call resolve_post '{"id":"$1","outcome":"published"}' (or "not_published")`;

/** In this order: what has arguments, and then the names alone. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bor give scheduledAt\b/g, "or another time"],
  [/\bthe list of keys\b/g, "posthorn keys list"],
  [
    /\bwith connect_channel with provider "([^"]*)" and accountId "([^"]*)"/g,
    "with posthorn connect $1 --account $2",
  ],
  [
    /\b([Cc])all connect_channel with provider "([^"]*)" and accountId "([^"]*)"/g,
    "$1all posthorn connect $2 --account $3",
  ],
  [/\bcancel_post with fromPlatform\b/g, "posthorn cancel with --from-platform"],
  [/\bresolve_post with outcome dismissed\b/g, "posthorn dismiss"],
  [/\(caption, mediaUrl, metadata, scheduledAt\)/g, "(--text, --media, --set, --at)"],
  [
    /\bresolve_post with id "([^"]*)" and outcome "published" or "not_published", or "dismissed"/g,
    `${RESOLVE}, or posthorn dismiss`,
  ],
  [/\bresolve_post with id "([^"]*)" and outcome "published" or "not_published"/g, RESOLVE],
];

/** The sentence with commands in the place of tools. `id`: of the post that it is about. */
export function forShell(said: Said, id = "post_…"): string {
  const sentence = agentsWords(said);
  return WORDS.reduce((text, [pattern, words]) => text.replace(pattern, words), withSlots(sentence))
    .replaceAll(/(?<!posthorn call )\bresolve_post\b/g, RESOLVE.replace("$1", id))
    .replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name: string, at: number, text: string) =>
      isToolAt(text, { name, at }) ? `posthorn ${COMMANDS[name] ?? `call ${name}`}` : name,
    )
    .replaceAll(/\b([Cc])all posthorn\b/g, (_, first: string) => `${first === "C" ? "R" : "r"}un posthorn`);
}

/** Not the end of an address or a file's name, nor one that stands behind its command already. */
function isToolAt(text: string, { name, at }: { readonly name: string; readonly at: number }): boolean {
  const before = text.slice(0, at);
  const isOther = ["/", ".", "posthorn call "].some((end) => before.endsWith(end));
  return !isOther && VERBS.includes(name.split("_")[0] ?? "");
}

/** How slots are set, with the channel that the sentence is about. */
function withSlots(sentence: string): string {
  const from = sentence.indexOf("with update_account");
  const to = sentence.indexOf(SLOTS_END, from);
  if (from === -1 || to === -1) return sentence;
  const handle = /\(([^()]*)\) has no /.exec(sentence)?.[1];
  const channel = handle ?? /the channel ("[^"]*") on /.exec(sentence)?.[1] ?? "CHANNEL";
  const after = sentence.slice(to + SLOTS_END.length);
  return `${sentence.slice(0, from)}with posthorn slots ${channel} "mon,thu 09:30"${after}`;
}

/** Of the example that the sentence has. */
const SLOTS_END = "}]}}";

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
