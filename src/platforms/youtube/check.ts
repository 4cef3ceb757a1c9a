import type { CheckedAt } from "../../ports/platform.ts";
import { hasBrackets, visibilityOf, type YoutubePost } from "./metadata.ts";

/** What data cannot say of a post, and what a person should know before its time. */
export function checkPost(post: YoutubePost, at?: CheckedAt): { errors: string[]; warnings: string[] } {
  const errors = hasBrackets(post.caption ?? "")
    ? ["caption: has < or >, which YouTube does not allow in descriptions. Leave them out."]
    : [];
  const warnings: string[] = [];
  if (post.metadata.madeForKids === undefined)
    warnings.push(
      "metadata.madeForKids: is not given, so the video is declared not to be made for children. The law asks for one or the other.",
    );
  const keptPrivateAt = at?.account.settings["keptPrivateAt"];
  if (typeof keptPrivateAt === "string" && visibilityOf(post) !== "private")
    warnings.push(
      `metadata.visibility: YouTube kept the channel's last video private (${keptPrivateAt}), and will keep this one private too until the Google Cloud project has passed its audit.`,
    );
  return { errors, warnings };
}
