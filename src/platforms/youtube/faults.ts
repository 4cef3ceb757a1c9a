import type { PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { DAY, HOUR } from "../../domain/time.ts";
import type { FaultRule } from "../shared/faults.ts";
import { googleFaults } from "../shared/google.ts";

const CHANGE_IT = "Change it, then send the post again.";

/** What YouTube objects to, by the `reason` of the error. */
const FIELDS: readonly (readonly [code: string, field: string, message: string])[] = [
  ["invalidTitle", "metadata.title", "YouTube refused the title."],
  ["invalidDescription", "caption", "YouTube refused the description."],
  ["invalidTags", "metadata.tags", "YouTube refused the tags."],
  [
    "invalidCategoryId",
    "metadata.categoryId",
    "YouTube does not know this category, or does not offer it in the channel's region.",
  ],
  [
    "invalidPublishAt",
    "scheduledAt",
    "YouTube does not take this time, because the video was public before.",
  ],
  ["defaultLanguageNotSet", "metadata.language", "YouTube asks for the language."],
  ["invalidDefaultLanguage", "metadata.language", "YouTube does not know this language."],
  ["forbiddenPrivacySetting", "metadata.visibility", "YouTube does not let this channel choose it."],
  ["forbiddenLicenseSetting", "metadata.license", "YouTube does not let this channel choose it."],
  ["forbiddenEmbedSetting", "metadata.embeddable", "YouTube does not let this channel choose it."],
  ["playlistNotFound", "metadata.playlistId", "The channel has no such playlist."],
  ["playlistItemsNotAccessible", "metadata.playlistId", "YouTube does not let this channel fill it."],
  ["playlistContainsMaximumNumberOfVideos", "metadata.playlistId", "The playlist is full."],
  ["invalidFilename", "mediaUrl", "YouTube refused the file."],
  ["mediaBodyRequired", "mediaUrl", "YouTube got no file."],
];

/** https://developers.google.com/youtube/v3/docs/errors, and those of each method. */
const RULES: readonly FaultRule[] = [
  ...FIELDS.map(([code, field, message]): FaultRule => {
    return { code, kind: "rejected", field, message: `${message} ${CHANGE_IT}` };
  }),
  {
    code: ["invalidVideoMetadata", "invalidRecordingDetails"],
    kind: "rejected",
    message: `YouTube refused the data of the video (title, category and so on). ${CHANGE_IT}`,
  },
  {
    code: "uploadLimitExceeded",
    kind: "rate",
    message:
      "YouTube takes no more videos from this channel for now. Its daily limit of uploads is reached. Verify the channel at https://www.youtube.com/verify to raise it, or wait a day.",
    retryAfterMs: DAY,
  },
  {
    code: "uploadRateLimitExceeded",
    kind: "rate",
    message: "The channel set too many thumbnails. Wait some hours.",
    retryAfterMs: 4 * HOUR,
  },
  {
    code: ["youtubeSignupRequired", "channelNotFound"],
    kind: "auth",
    message:
      "The Google account has no YouTube channel (any more). Make one at https://www.youtube.com/create_channel first.",
  },
  {
    code: [
      "authenticatedUserAccountClosed",
      "authenticatedUserAccountSuspended",
      "channelClosed",
      "channelSuspended",
    ],
    kind: "auth",
    message: "YouTube closed or suspended this channel. Settle that with YouTube first.",
  },
  { status: 409, kind: "transient", message: "YouTube was busy with another change." },
];

export const API = "YouTube Data API v3";

/** How answers of the Data API are read. */
export function youtubeFaults(
  io: Pick<PlatformIo, "now">,
  rules: readonly FaultRule[] = [],
): NonNullable<PlatformRequest["classify"]> {
  return googleFaults({ title: "YouTube", api: API, rules: [...rules, ...RULES] }, io);
}
