import { type Message, say } from "../sentences.ts";

/** What a wrong argument is after, and what leads there. */
interface Lead {
  readonly given: readonly string[];
  /** A field that the tool has. */
  readonly beside: string;
  readonly way: Message;
}

const LEADS: readonly Lead[] = [
  {
    given: ["until", "pausedUntil", "pauseUntil", "resumeAt", "resumeOn", "paused"],
    beside: "paused",
    way: say(
      "A pause has no end of its own: it lasts until paused is set to false. Posts that are too late by then fail: the answer to a pause says until when they can go out.",
      { next: [{ do: "move", postId: null }] },
    ),
  },
  {
    given: ["repeat", "repeats", "recurrence", "recurring", "rrule", "every"],
    beside: "leadMinutes",
    way: say("A series is a draft.", { next: [{ do: "draft", takes: "repeat" }] }),
  },
  {
    given: ["targets", "accountId"],
    beside: "leadMinutes",
    way: say("One post is on one channel. Several channels together are a draft.", {
      next: [{ do: "draft", takes: "targets" }],
    }),
  },
];

/** Where what a field asks for can be had, in a sentence. Null where nothing tells. `known`: those beside it. */
export function leadOf(given: string, known: readonly string[]): Message | null {
  return LEADS.find((one) => one.given.includes(given) && known.includes(one.beside))?.way ?? null;
}
