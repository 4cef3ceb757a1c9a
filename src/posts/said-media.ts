import { acceptedFor, type PlatformCapabilities } from "../domain/accounts/capabilities.ts";
import type { FileType } from "../domain/files/file.ts";
import { HEIC_TYPE, type MediaSkills } from "../domain/files/media-limits.ts";
import type { AnyPlatform } from "../ports/platform.ts";

/* What an address says of the media that it leads to, before they are fetched. */

interface TakenBy {
  readonly platform: AnyPlatform;
  readonly capabilities: PlatformCapabilities;
}

/** Without what a header says beside it. */
export function mimeTypeOf(contentType: string): string {
  return contentType.split(";")[0]?.trim().toLowerCase() ?? "";
}

interface SaidOfItself {
  readonly mimeType: string;
  readonly type: FileType;
  readonly sizeBytes: number | null;
}

/** The same of what this process would have to make another type of, and cannot. */
export function warnOfType(
  { platform, capabilities }: TakenBy,
  { field, skills }: { readonly field: string; readonly skills: MediaSkills },
  { mimeType, type }: SaidOfItself,
): string[] {
  const ofPictures = mimeType === HEIC_TYPE ? skills.heic : skills.pictures;
  const isMade = type === "image" ? ofPictures : type !== "video" || skills.films;
  const limits = acceptedFor({ type, mimeType }, capabilities.media.accepts);
  if (isMade || limits === undefined || limits.mimeTypes.includes(mimeType)) return [];
  return [
    `${field}: the address says that it is ${mimeType}, which is not made ${limits.mimeTypes.join(" or ")} here, and ${platform.title} takes nothing else. Give another file.`,
  ];
}

/** What the address says of itself may be wrong, so it refuses nothing; pictures are made smaller. */
export function warnOfSize(
  { platform, capabilities }: TakenBy,
  field: string,
  { mimeType, type, ...said }: SaidOfItself,
): string[] {
  const limits = type === "image" ? undefined : acceptedFor({ type, mimeType }, capabilities.media.accepts);
  const maxBytes = limits?.maxBytes ?? null;
  if (maxBytes === null || said.sizeBytes === null || said.sizeBytes <= maxBytes) return [];
  return [
    `${field}: the address says that the ${limits?.kind} has ${said.sizeBytes} bytes, but ${platform.title} takes at most ${maxBytes}. Give a smaller one.`,
  ];
}
