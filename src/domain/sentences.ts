import * as z from "zod";
import { ASSERTIONS, holds } from "./assertions.ts";
import { jsonIn } from "./text/read-text.ts";
import { withFullStop } from "./text/plain-text.ts";

/**
 * What can be done about something, from a closed list. It names no tool, button or command: each face has its own
 * words for it (`toolkit/words.ts` for agents, `apps/words.ts` for people, `cli/shell/words.ts` for the shell).
 */
export type NextStep =
  /** Take ids or values from a list. */
  | { readonly do: "list"; readonly of: ListName }
  /** Look at a list, to see how things are. */
  | { readonly do: "see"; readonly of: ListName }
  /** The person signs in to the platform again. */
  | { readonly do: "reconnect"; readonly provider: string; readonly accountId: string }
  /** Another connection is begun, as its address is over. */
  | { readonly do: "connect_again" }
  /** See how far the person is with a connection. */
  | { readonly do: "check_connection"; readonly connectId: string }
  /** Look at the post again in a moment. */
  | { readonly do: "look"; readonly postId: string | null }
  /** Look at the post later: it is not on its way now. */
  | { readonly do: "look_later"; readonly postId: string | null }
  /** Hold a channel's posts longer. */
  | { readonly do: "pause" }
  /** Look at each of the posts that a sentence names. */
  | { readonly do: "see_each" }
  /** Stop what goes out at once, where that was a slip. */
  | { readonly do: "stop_if_not_meant" }
  /** Show drafts to a person, who approves them. */
  | { readonly do: "approve_drafts" }
  /** Look at each of several posts in a moment. */
  | { readonly do: "look_at_each"; readonly postIds: readonly string[] }
  /** Look at the post, to see what is known of it. */
  | { readonly do: "read"; readonly postId: string | null }
  | { readonly do: "edit"; readonly postId: string | null }
  | { readonly do: "edit_live"; readonly postId: string | null }
  | { readonly do: "cancel"; readonly postId: string | null }
  /** Delete it on the platform. */
  | { readonly do: "take_down"; readonly postId: string | null }
  | { readonly do: "move"; readonly postId: string | null }
  /** Send it again; `changed`: after what is wrong with it was changed. */
  | { readonly do: "retry"; readonly postId: string | null; readonly changed: boolean }
  /** Say whether it is live or not, after a look at the platform. */
  | { readonly do: "settle"; readonly postId: string | null }
  /** Send these failed posts again. */
  | { readonly do: "send_again"; readonly postIds: readonly string[] }
  /** Read the figures of single posts. */
  | { readonly do: "read_insights" }
  /** Put a failed post away. */
  | { readonly do: "dismiss"; readonly postId: string | null }
  | { readonly do: "schedule" }
  /** Give a value that the platform offers for this field. */
  | { readonly do: "choose"; readonly field: string }
  | { readonly do: "set_slots"; readonly accountId: string | null }
  /** Give the value that is missing, such as "a string (title)". */
  | { readonly do: "give"; readonly what: string }
  /** Take one of the fields there are; `of`: whose, where that has a name. */
  | { readonly do: "use_fields"; readonly of: string | null; readonly known: readonly string[] }
  /** Give a time that is one, or one in the future. */
  | { readonly do: "give_time"; readonly isFuture: boolean }
  /** Give a picture, a video or another file. */
  | { readonly do: "add_media" }
  /** Write a draft in its place; `takes`: what a draft can have and a post cannot. */
  | { readonly do: "draft"; readonly takes: "repeat" | "targets" }
  /** Read the draft as it is now; `revision`: the number to send then, null where nothing is to be sent. */
  | { readonly do: "read_draft"; readonly revision: number | null }
  | { readonly do: "move_draft" }
  | { readonly do: "discard_draft" }
  | { readonly do: "end_series" }
  /** Stop these series, or wait until a time of them has a post, which can be changed. */
  | { readonly do: "stop_series"; readonly draftIds: readonly string[] }
  /** Change or cancel the posts that a draft became. */
  | { readonly do: "change_posts_of_draft" }
  /** Bring a file in, by a new address. */
  | { readonly do: "upload" }
  /** A file of the machine that Posthorn runs on is brought in first. */
  | { readonly do: "upload_local" }
  /** Test the webhook, which turns it on again. */
  | { readonly do: "test_webhook" }
  /** Ask the person who did not agree; `wasAsked`: false where the client failed to ask; `orDraft`: it can wait as a draft. */
  | {
      readonly do: "ask_person";
      readonly tool: string;
      readonly wasAsked: boolean;
      readonly orDraft: boolean;
    }
  /** A person decides by themselves; `tool`: what they do at the terminal, null: what waits for their decision. */
  | { readonly do: "decide_as_person"; readonly tool: string | null }
  /** What an assistant of this role can do instead. `only`: with this tool, that much. */
  | {
      readonly do: "stay_in_role";
      readonly way: RoleWay;
      readonly only: readonly [tool: string, how: string] | null;
    }
  /** A person does it, as this assistant (or key) has no way to. `lacks`: the tools that would do it. */
  | { readonly do: "leave_to_person"; readonly who: "assistant" | "key"; readonly lacks: readonly string[] }
  /** Something is to be done at the terminal of the machine that Posthorn runs on. */
  | { readonly do: "run"; readonly command: Command; readonly of: string | null };

/** What else there is for an assistant that may not do something. */
export type RoleWay = "draft" | "decided" | "planned" | "channels" | "files" | "status" | "none";

export type ListName =
  "accounts" | "posts" | "drafts" | "files" | "webhooks" | "platforms" | "connections" | "choices";

/** What is to be done at a terminal. */
export type Command =
  /** Sign in to the page. */
  | "open"
  | "make_key"
  /** Check this installation; `of`: a platform. */
  | "doctor"
  /** Set a platform's app; `of`: its name and way. */
  | "setup"
  | "restore"
  | "serve"
  | "move_database";

/** One sentence, or several that belong to one field, as data: what goes over the wire to faces. */
export interface Sentence {
  /** As calls name it: `metadata.title`, `posts[3].caption`. Where `what` begins with a verb, it is the subject. */
  readonly field: string | null;
  /** True for everyone: names no tool, button, command or id of ours. */
  readonly what: string;
  /** What can be done about it; a face words it behind `what`. */
  readonly next: readonly NextStep[];
}

/** Sentences that are one text. Its plain form leaves out what can be done, which only a face has words for. */
export class Message {
  readonly sentences: readonly Sentence[];

  constructor(sentences: readonly Sentence[]) {
    this.sentences = sentences;
  }

  toString(): string {
    return this.sentences.map(plainSentence).join(" ");
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A text for callers. A plain one is read as `field: what`. */
export type Said = string | Message;

/**
 * The schema of such a text: who makes a result gives sentences, who reads it has them in the words of a face. The
 * toolbox words a result before this looks at it.
 */
export const Said: z.ZodType<string, Said> = z.string();

/** One sentence with its field and what can be done. */
export function say(what: string, of: { field?: string | null; next?: readonly NextStep[] } = {}): Message {
  return new Message([{ field: of.field ?? null, what, next: of.next ?? [] }]);
}

/** Several texts as one; null and "" are left out. */
export function join(...parts: readonly (Said | null | undefined)[]): Message {
  return new Message(parts.flatMap((part) => (part === null || part === undefined ? [] : sentencesIn(part))));
}

/** The text with what can be done about all of it. */
export function withSteps(said: Said, ...next: readonly NextStep[]): Message {
  const sentences = sentencesIn(said);
  const last = sentences.at(-1) ?? { field: null, what: "", next: [] };
  return new Message([...sentences.slice(0, -1), { ...last, next: [...last.next, ...next] }]);
}

/** A text that another one follows. */
export function ended(said: Said): Message {
  const sentences = sentencesIn(said);
  return new Message(sentences.map((one) => ({ ...one, what: withFullStop(one.what) })));
}

/** A field at the beginning of a text, as in `metadata.tags[0]: …`; several as in `slot, scheduledAt: …`. */
const LED_BY_FIELD =
  /^((?:[a-z]\w*(?:[.[][^\s:,]{0,100})?)(?:, [a-z]\w*(?:[.[][^\s:,]{0,100})?){0,4}): (?=\S)([^]*)$/;

/** The one place that knows how plain texts name a field. */
export function sentencesIn(said: Said): readonly Sentence[] {
  if (said instanceof Message) return said.sentences;
  if (said === "") return [];
  const [, field = null, what = said] = LED_BY_FIELD.exec(said) ?? [];
  return [{ field, what, next: [] }];
}

/** The same about another field: of a part, or of the call that made it. */
export function withField(said: Said, field: string): Message {
  const [first, ...more] = sentencesIn(said);
  if (first === undefined) return new Message([]);
  const what = first.field === null ? first.what : `${first.field}: ${first.what}`;
  return new Message([{ ...first, field, what }, ...more]);
}

/** The same behind the name of what it is about. */
export function named(said: Said, name: string): Message {
  const [first, ...more] = sentencesIn(said);
  if (first === undefined || first.field !== null) return join(`${name}:`, said);
  return new Message([{ ...first, what: `${name}: ${first.what}` }, ...more]);
}

function plainSentence({ field, what }: Sentence): string {
  return field === null ? what : `${field}: ${what}`;
}

/** A text in the words of a face. */
export function inWords(said: Said, wordsOf: (step: NextStep) => string): string {
  return sentencesIn(said)
    .map((one) => [plainSentence(one), ...one.next.map(wordsOf)].filter((part) => part !== "").join(" "))
    .join(" ");
}

/** How a text with steps begins where it is stored: `toStored` writes the field first, and no text of ours begins so. */
const STORED = '[{"field":';

/** A text as a column keeps it. What leads nowhere is kept as it reads. */
export function toStored(said: Said): string {
  const sentences = sentencesIn(said);
  if (sentences.every(({ next }) => next.length === 0)) return String(said);
  return JSON.stringify(sentences.map(({ field, what, next }) => ({ field, what, next })));
}

/** A text as a column has it. `id`: of its post. */
export function fromStored(text: Said, id: string | null = null): Said {
  if (typeof text !== "string" || !text.startsWith(STORED)) return text;
  const sentences = jsonIn(text) as Sentence[] | null;
  const isReadable = sentences?.every(({ what, next }) => typeof what === "string" && Array.isArray(next));
  if (holds("error_readable", isReadable === true, id)) return new Message(sentences ?? []);
  return `Look in the server's log: ${ASSERTIONS.error_readable}`;
}

export function fromStoredOrNull(text: Said | null, id: string | null = null): Said | null {
  return text === null ? null : fromStored(text, id);
}
