/** What a button does to a post, what is asked before, and what is said meanwhile and then. */
export const POST_CHANGES = {
  retry: {
    tool: "retry_post",
    args: {},
    from: "failed",
    doing: "Sending again…",
    said: "The post is sent again.",
  },
  cancel: {
    tool: "cancel_post",
    args: {},
    from: "scheduled",
    doing: "Cancelling…",
    said: "The post is cancelled.",
    button: "Cancel post",
    question: "Cancel this post?",
    text: "It will not go out.",
    yes: "Yes, cancel it",
    no: "Keep it",
  },
  takeDown: {
    tool: "cancel_post",
    args: { fromPlatform: true },
    from: "published",
    doing: "Taking it down…",
    said: "The post is taken down.",
    button: "Take down",
    question: "Take this post down?",
    text: "It is deleted on the platform and cannot be brought back.",
    yes: "Yes, take it down",
    no: "Leave it there",
  },
  dismiss: {
    tool: "resolve_post",
    args: { outcome: "dismissed" },
    from: "failed",
    doing: "Dismissing it…",
    said: "The post is dismissed.",
    button: "Dismiss",
    question: "Dismiss this post?",
    text: "It will never be sent, and does not count as failed any more.",
    yes: "Yes, dismiss it",
    no: "Leave it",
  },
} as const;
export type PostChangeName = keyof typeof POST_CHANGES;
/** Those that a person is asked about before. */
export type AskedChange = Exclude<PostChangeName, "retry">;
