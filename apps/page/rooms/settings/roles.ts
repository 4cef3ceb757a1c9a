import type { Role } from "../../../../src/domain/permissions.ts";

/** What a role is called, and what it means in a sentence. */
export const ROLE_WORDS: Readonly<Record<Role, { readonly title: string; readonly means: string }>> = {
  writer: {
    title: "Writes drafts, you approve",
    means: "Nothing goes out before you say so in Review. It also uploads files.",
  },
  publisher: {
    title: "Publishes by itself",
    means: "It schedules, changes and cancels posts without asking you here.",
  },
  viewer: { title: "Only looks", means: "It reads posts, channels and figures and changes nothing." },
  admin: {
    title: "Does everything",
    means: "It also connects channels and manages keys and notices, as you do.",
  },
};

/** In the order in which they are offered to an assistant. */
export const ASSISTANT_ROLES: readonly Role[] = ["writer", "publisher", "viewer"];
export const ALL_ROLES: readonly Role[] = [...ASSISTANT_ROLES, "admin"];

/** For a key that was made with permissions of its own. */
export function roleTitle(role: Role | null, permissions: readonly string[]): string {
  return role === null ? `May: ${permissions.join(", ")}` : ROLE_WORDS[role].title;
}

/** How long a key is good, as the server reads it. */
export const EXPIRIES = [
  { value: "", label: "Until you revoke it" },
  { value: "30d", label: "For 30 days" },
  { value: "90d", label: "For 90 days" },
  { value: "365d", label: "For a year" },
] as const;
