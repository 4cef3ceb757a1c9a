/**
 * What can be done about something, from a closed list. It names no tool, button or command: each face has its own
 * words for it (`toolkit/words.ts` for agents, `apps/words.ts` for people, `cli/shell/words.ts` for the shell).
 */
export type NextStep =
  /** Read a list, to take ids from it or to see how things are. */
  | { readonly do: "list"; readonly of: Listed }
  /** The person signs in to the platform again. */
  | { readonly do: "reconnect"; readonly provider: string; readonly accountId: string }
  /** Look at the post again in a moment. */
  | { readonly do: "look"; readonly postId: string | null }
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
  /** Put a failed post away. */
  | { readonly do: "dismiss"; readonly postId: string | null }
  | { readonly do: "schedule" }
  /** Give a value that the platform offers for this field. */
  | { readonly do: "choose"; readonly field: string }
  | { readonly do: "set_slots"; readonly accountId: string | null };

export type Listed =
  "accounts" | "posts" | "drafts" | "files" | "webhooks" | "platforms" | "connections" | "choices";
