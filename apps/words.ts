import type { Command, ListName, NextStep, Sentence } from "../src/domain/sentences.ts";
import { subjectOf, upperFirst } from "../src/domain/posts/for-people.ts";
import { inARow } from "./shared/texts.ts";
import { withValues } from "./shared/values.ts";

/** What a person is told that can be done. "": nothing, as a button beside the sentence says it, or no person needs it. */
export type Words = {
  readonly [Do in NextStep["do"]]: (step: Extract<NextStep, { readonly do: Do }>) => string;
};

const nothing = (): string => "";

const ROOMS: Readonly<Record<ListName, string>> = {
  accounts: "Look under Channels.",
  posts: "Look at the plan.",
  drafts: "Look under Review.",
  files: "",
  webhooks: "Look under Settings.",
  platforms: "",
  connections: "",
  choices: "",
};

const COMMANDS: Readonly<Record<Command, string>> = {
  open: "posthorn open",
  make_key: "posthorn keys create",
  doctor: "posthorn doctor",
  setup: "posthorn setup",
  restore: "posthorn restore",
  serve: "posthorn serve",
  move_database: "posthorn migrate-database",
};

/** In the rooms of the page. */
export const PAGE_WORDS: Words = {
  list: nothing,
  see: ({ of }) => ROOMS[of],
  reconnect: () => "Reconnect it under Channels.",
  connect_again: nothing,
  check_connection: nothing,
  look: () => "Look again in a moment.",
  look_later: nothing,
  send_again: nothing,
  read_insights: nothing,
  pause: () => "To hold it longer, pause its channel.",
  see_each: nothing,
  stop_if_not_meant: () => "If that was not meant, cancel it and take it down.",
  approve_drafts: () => "Approve them under Review.",
  look_at_each: () => "Look again in a moment.",
  read: nothing,
  edit: () => "Change it.",
  edit_live: () => "Change it on the platform.",
  cancel: () => "To stop it, cancel it.",
  take_down: () => "To delete it on the platform, take it down.",
  move: () => "Choose another time.",
  retry: ({ changed }) => (changed ? "Change it, then send it again." : "Send it again."),
  settle: ({ of }) => (of === undefined ? "Say here whether it is there." : ""),
  dismiss: () => "If it is not wanted any more, choose “Dismiss”.",
  schedule: () => "Only where it is wanted after all, write a new one.",
  choose: () => "Choose one.",
  set_slots: () => "Set its slots under Channels.",
  give: () => "Fill it in.",
  use_fields: nothing,
  give_time: ({ isFuture }) =>
    isFuture ? "Choose another time, or choose Now." : "Choose a day and a time.",
  add_media: () => "Add one.",
  draft: ({ takes }) =>
    takes === "repeat" ? "Write a draft that repeats." : "Write a draft for several channels.",
  read_draft: () => "Look at it as it is now.",
  move_draft: () => "To move one, give it another time.",
  discard_draft: () => "If one is not wanted, discard it under Review.",
  end_series: () => "To end the series, stop it under Review. To change it, then write a new one.",
  stop_series: () => "To stop a series, stop it under Review.",
  change_posts_of_draft: () => "Change or cancel its posts.",
  upload: () => "Add it again.",
  upload_local: () => "Add the file itself.",
  test_webhook: () => "Test it under Settings: once that works, it is on again.",
  leave_to_person: nothing,
  ask_person: nothing,
  decide_as_person: ({ tool }) =>
    tool === null ? "Decide it under Review." : `Do it on the command line: posthorn call ${tool}.`,
  stay_in_role: nothing,
  run: ({ command }) => `Run “${COMMANDS[command]}” where Posthorn runs.`,
};

/** In a view within an agent, which has no rooms: what it cannot do itself, the agent can. */
export const VIEW_WORDS: Words = {
  ...PAGE_WORDS,
  see: nothing,
  reconnect: () => "Ask your agent to reconnect it.",
  edit_live: () => "Ask your agent to change it.",
  settle: ({ of }) => (of === "place" ? "" : "Tell your agent whether it is there."),
  give_time: () => "Choose another time.",
  set_slots: () => "Ask your agent to set its slots.",
  decide_as_person: ({ tool }) =>
    tool === null
      ? "Approve it on Posthorn's page under Review, or on the command line: posthorn approve."
      : `Do it on the command line: posthorn call ${tool}.`,
  pause: () => "To hold it longer, ask your agent to pause its channel.",
  stop_if_not_meant: () => "If that was not meant, ask your agent to cancel it.",
  approve_drafts: () => "Approve them on Posthorn's page under Review.",
  discard_draft: () => "If one is not wanted, discard it.",
  end_series: () => "To end the series, stop it here.",
  test_webhook: () => "Ask your agent to test it: once that works, it is on again.",
};

/** Sentences about the same as one text. */
export function inWords(sentences: readonly Sentence[], words: Words): string {
  return inARow(sentences.map((one) => sentenceInWords(one, words)));
}

/** One sentence: its field's name where `what` begins with a verb, `what`, and what can be done. */
export function sentenceInWords(sentence: Sentence, words: Words): string {
  const said = [subjectOf(sentence), withValues(sentence.what)].filter((part) => part !== null).join(" ");
  const steps = sentence.next.map((step) => stepInWords(step, words));
  return inARow([sentence.field === null ? said : upperFirst(said), ...steps]);
}

function stepInWords<Do extends NextStep["do"]>(
  step: Extract<NextStep, { readonly do: Do }> & { readonly do: Do },
  words: Words,
): string {
  return words[step.do](step);
}
