/** What a wrong argument is after, and what leads there. */
interface Lead {
  readonly given: readonly string[];
  /** A field that the tool has. */
  readonly beside: string;
  readonly way: string;
}

const LEADS: readonly Lead[] = [
  {
    given: ["until", "pausedUntil", "pauseUntil", "resumeAt", "resumeOn", "paused"],
    beside: "paused",
    way: "A pause has no end of its own: it lasts until paused is set to false. Posts that are too late by then fail, so move them with change_posts: the answer to a pause says until when they can go out.",
  },
  {
    given: ["repeat", "repeats", "recurrence", "recurring", "rrule", "every"],
    beside: "leadMinutes",
    way: "A series is a draft: save_draft takes repeat.",
  },
  {
    given: ["targets", "accountId"],
    beside: "leadMinutes",
    way: "One post is on one channel. For several: save_draft with targets.",
  },
];

/** Where what a field asks for can be had, in a sentence. Null where nothing tells. `known`: those beside it. */
export function leadOf(given: string, known: readonly string[]): string | null {
  return LEADS.find((one) => one.given.includes(given) && known.includes(one.beside))?.way ?? null;
}
