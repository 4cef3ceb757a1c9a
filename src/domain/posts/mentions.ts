import type { Metadata } from "./post.ts";
import { mapTexts } from "./texts.ts";

/** A person, page or group in a text: `@[Name](id)`. The id is the platform's, from `list_choices`. */
export const MENTION = /@\[([^[\]\n]{1,100})\]\(([^()\s]{1,512})\)/g;

/** The text with each mention as the platform writes it. */
export function writeMentions(text: string, write: (name: string, id: string) => string): string {
  return text.replace(MENTION, (_all, name: string, id: string) => write(name, id));
}

/** A platform without mentions shows the name. */
export function plainMentions(text: string): string {
  return writeMentions(text, (name) => (name.startsWith("@") ? name : `@${name}`));
}

/** Where people are named by their address, which is the id: `@ann@server.example`. */
export function mentionsByAddress(text: string): string {
  return writeMentions(text, (_name, id) => id);
}

/** All texts of a post with plain mentions. */
export function withPlainMentions<T extends { caption?: string | null; metadata?: Metadata | null }>(
  post: T,
): T {
  return mapTexts(post, ["firstComment"], plainMentions);
}

/** Whether what readers see differs from what was written. */
export function hasMention(text: string): boolean {
  return text.search(MENTION) !== -1;
}

/** What `list_choices` answers to be put into a text. */
export function mentionToken(name: string, id: string): string {
  const readable = name.replace(/[[\]\s]+/g, " ").trim();
  return `@[${[...readable].slice(0, 90).join("")}](${id})`;
}
