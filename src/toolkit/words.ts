import { saidOf } from "../domain/errors.ts";
import { EXAMPLE_TIME } from "../domain/time.ts";
import {
  type Command,
  inWords,
  type ListName,
  Message,
  type NextStep,
  type RoleWay,
  type Said,
  type Sentence,
  sentencesIn,
} from "../domain/sentences.ts";

type Step<Do extends NextStep["do"]> = Extract<NextStep, { do: Do }>;

/** What a face says of each step. A step that it has no words for, it leaves out with "". */
export type StepWords = { readonly [Do in NextStep["do"]]: (step: Step<Do>) => string };

/** The words of one face for a text: what is true for everyone, and then what can be done there. */
export function wordsBy(table: StepWords): (said: Said) => string {
  // Each entry takes the steps of its own name, which the compiler cannot follow.
  const wordsOf = (step: NextStep): string => (table[step.do] as (step: NextStep) => string)(step);
  return (said) => inWords(said, wordsOf);
}

const LISTS: Readonly<Record<ListName, string>> = {
  accounts: "Take account ids from list_accounts.",
  posts: "Take ids from list_posts.",
  drafts: "Take ids from list_drafts.",
  files: "Take files from list_files.",
  webhooks: "Take ids from list_webhooks.",
  platforms: "list_platforms tells what there is.",
  connections: "connect_channel answers the id, which is known for a day.",
  choices: "Take it from list_choices.",
};

const COMMANDS: Readonly<Record<Command, (of: string | null) => string>> = {
  open: () => "Run `posthorn open`.",
  make_key: () => "`posthorn keys create` makes one.",
  doctor: (of) => (of === null ? "Run posthorn doctor." : `posthorn doctor ${of} prints the steps.`),
  setup: (of) => `Run posthorn setup${of === null ? "" : ` ${of}`}.`,
  restore: () => "A backup is restored with: posthorn restore FILE.",
  serve: () => "`posthorn service install` keeps one running, `posthorn serve` does until it is stopped.",
  move_database: () => "Run posthorn migrate-database again.",
};

const ROLE_WAYS: Readonly<Record<RoleWay, string>> = {
  draft: "save_draft with submit; a person approves.",
  decided: "list_drafts tells what waits and what was decided; a person decides.",
  planned: "list_posts shows the posts; a person changes them on Posthorn's page.",
  channels: "list_accounts shows the channels; a person manages them on Posthorn's page.",
  files: "list_files shows the files; a person adds and deletes them on Posthorn's page.",
  status: "get_status tells how publishing goes; a person sets up webhooks.",
  none: "A person decides what else it may do.",
};

/** Where the sentence itself does not tell which. */
function withId(id: string | null): string {
  return id === null ? "" : ` with id "${id}"`;
}

/** Of a series. */
const ONE_TIME = "One time of it can be changed or cancelled once its post is made, about two weeks before";

const SETTLED = {
  place: '"published", with platformPostId, its id there',
  presence:
    '"published" where it is there (with platformPostId, its id there), or "not_published" where it is not',
} as const;

/** For agents, and for programs that call as agents do: in tools and their arguments. */
const AGENTS: StepWords = {
  list: ({ of }) => LISTS[of],
  see: ({ of }) => `Look at list_${of}.`,
  reconnect: ({ provider, accountId }) =>
    `Call connect_channel with provider "${provider}" and accountId "${accountId}".`,
  connect_again: () => "Call connect_channel again for a new address.",
  check_connection: ({ connectId }) =>
    `Call check_connection with connectId "${connectId}" to see how far they are.`,
  look: ({ postId }) => `Call get_post${withId(postId)} in a moment.`,
  look_later: ({ postId }) => `Call get_post${withId(postId)} later to see what became of it.`,
  pause: () => "To hold it longer, pause its channel with update_account.",
  see_each: () => "Call get_post to see what becomes of each.",
  stop_if_not_meant: () => "If that was not meant, call cancel_post with fromPlatform.",
  approve_drafts: () => "list_drafts shows them. The person looks, then decide_draft with approve.",
  look_at_each: ({ postIds }) => `Call get_post for each in a moment: ${postIds.join(", ")}.`,
  read: ({ postId }) => `Call get_post${withId(postId)} to read it.`,
  edit: () => "Change it with update_post.",
  edit_live: () => "Change it with edit_published_post.",
  cancel: () => "Stop it with cancel_post.",
  take_down: () => "To delete it on the platform, call cancel_post with fromPlatform.",
  move: () => "change_posts moves posts.",
  retry: ({ changed }) =>
    changed
      ? "To mend it, call retry_post with what is to be changed (caption, mediaUrl, metadata, scheduledAt)."
      : "Call retry_post, which asks the platform first.",
  settle: ({ postId, of }) =>
    of !== undefined
      ? `Call resolve_post${withId(postId)} and outcome ${SETTLED[of]}.`
      : postId === null
        ? "Settle it with resolve_post."
        : `Call resolve_post with id "${postId}" and outcome "published" (with platformPostId, its id there, so that it can be taken down) or "not_published", or "dismissed" where it is not wanted any more.`,
  send_again: ({ postIds }) => `retry_post does that: ${postIds.join(", ")}.`,
  read_insights: () => "Call get_post with insights for the posts that matter.",
  dismiss: () => "To put it away, call resolve_post with outcome dismissed.",
  schedule: () => "Only where it is wanted after all, schedule a new one with schedule_post.",
  choose: ({ field }) => `Call list_choices with field "${field}", then give one of its values.`,
  set_slots: ({ accountId }) =>
    `Set slots with update_account, for example {"accountId":"${accountId ?? "acc_…"}","schedule":{"slots":[{"days":["mon","thu"],"times":["09:30"]}]}}, or give scheduledAt.`,
  give: ({ what }) => `Give ${what}.`,
  use_fields: ({ of, known }) =>
    known.length === 0
      ? "It takes no fields."
      : `The fields${of === null ? "" : ` of ${of}`} are ${known.join(", ")}.`,
  give_time: ({ isFuture }) =>
    isFuture ? "Give a time in the future." : `Give ISO 8601, for example ${EXAMPLE_TIME}.`,
  add_media: () => "Give an https address, or a file from list_files.",
  draft: ({ takes }) => `save_draft takes ${takes}.`,
  read_draft: ({ revision, draftId = null }) =>
    `Read it with list_drafts${withId(draftId)}${revision === null ? "" : `, then send ${revision}`}.`,
  move_draft: () =>
    "To move one, give save_draft another time and submit. To put one away, a person discards it.",
  discard_draft: () => "To put it away, call decide_draft with discard.",
  end_series: () =>
    "To end the series, call decide_draft with stop; to change it, do that and write a new one with save_draft. One post of it: update_post, or cancel_post.",
  stop_series: ({ draftIds }) =>
    `To stop a series, call decide_draft with stop: ${draftIds.join(", ")}. ${ONE_TIME}: list_posts shows it then.`,
  change_posts_of_draft: () => "Change its posts with update_post, or cancel them with cancel_post.",
  upload: () => "upload_file brings one in.",
  upload_local: () => "A file of this machine: upload_file with path brings it in first.",
  test_webhook: () => "Once test_webhook succeeds it is on again.",
  ask_person: ({ tool, wasAsked, orDraft }) => {
    const instead = "Ask them what they want instead. Do not send the call again until they ask for it.";
    if (!wasAsked)
      return `${instead} They can also do it by themselves on the command line, with: posthorn call ${tool}. If no person uses this client, set POSTHORN_CONFIRM=never where Posthorn runs.`;
    return orDraft ? `${instead} Or keep it as a draft that they look at: save_draft with submit.` : instead;
  },
  decide_as_person: ({ tool }) =>
    tool === null
      ? "They find what waits on Posthorn's page under Review, or with `posthorn drafts` on the command line, and get a notice where they asked for notices. Tell them that it waits."
      : `They can do it on the command line, with: posthorn call ${tool}.`,
  stay_in_role: ({ way, only }) =>
    only === null ? ROLE_WAYS[way] : `${only[0]} ${only[1]}; a person approves.`,
  leave_to_person: ({ who, lacks }) =>
    `A person does that, on Posthorn's page or the command line: this ${who} does not have ${lacks.join(" or ")}.`,
  run: ({ command, of }) => COMMANDS[command](of),
};

/** The sentence that agents read. */
export const agentsWords = wordsBy(AGENTS);

/** What a caller is answered for anything that was thrown, in the words of agents. */
export function agentsWordsFor(error: unknown): string {
  return agentsWords(saidOf(error));
}

/** By JSON pointer, which sentences stand there. */
export type SentencesAt = Readonly<Record<string, readonly Sentence[]>>;

/** Where a result holds texts of ours: its other strings are a caller's or a platform's. */
const LEADING: readonly string[] = [
  "warnings",
  "warning",
  "error",
  "reason",
  "statusReason",
  "instructions",
  "problem",
];

/** A result in the words of agents, and the sentences that stood in it. */
export function worded(result: Readonly<Record<string, unknown>>): {
  readonly result: Record<string, unknown>;
  readonly sentences: SentencesAt;
} {
  const found: Record<string, readonly Sentence[]> = {};
  const walk = (value: unknown, at: string, isLead: boolean): unknown => {
    if (value instanceof Message || (isLead && typeof value === "string")) return word(value, at);
    if (Array.isArray(value)) return value.map((one, index) => walk(one, `${at}/${index}`, isLead));
    if (typeof value !== "object" || value === null) return value;
    return wordFields(value, at);
  };
  const word = (said: Said, at: string): string => {
    const sentences = sentencesIn(said);
    found[at] = sentences;
    return typeof said === "string" ? said : agentsWords(said);
  };
  const wordFields = (fields: object, at: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields).map(([key, one]) => [
        key,
        FOREIGN.includes(key) ? one : walk(one, `${at}/${pointerPart(key)}`, LEADING.includes(key)),
      ]),
    );
  return { result: wordFields(result, ""), sentences: found };
}

/** What others wrote: nothing in it is ours. */
const FOREIGN: readonly string[] = ["metadata", "metadataSchema", "secretsSchema", "inputSchema"];

/** RFC 6901. */
function pointerPart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
