import { nearestName } from "../settings/nearest-name.ts";
import { commonMetadata } from "../posts/common-metadata.ts";

/** What other services, and so models, call our fields. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  accountId: ["account", "channel", "channelId", "accountIds", "channels"],
  caption: ["text", "message", "content", "body"],
  mediaUrl: ["media", "image", "imageUrl", "photo", "video", "videoUrl", "file", "fileId", "mediaUrls"],
  scheduledAt: ["time", "date", "when", "at", "scheduleAt", "scheduledFor", "scheduledTime", "publishAt"],
  id: ["postId", "fileId", "webhookId"],
};

/** Where the value of a field that nobody knows belongs, among those there are; null where nothing tells. */
export function meantField(given: string, known: readonly string[]): string | null {
  const name = given.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (known.includes(name)) return name;
  if (known.includes("metadata") && Object.hasOwn(commonMetadata, name)) return `metadata.${name}`;
  return known.find((one) => ELSEWHERE[one]?.includes(name) === true) ?? nearestName(name, known);
}
