import type { Quota } from "../../domain/accounts/account.ts";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import type { SetupGuide } from "../../ports/connect.ts";
import { definePlatform } from "../../ports/platform.ts";
import { GOOGLE_CONSENT } from "../shared/google.ts";
import { ACCEPTED } from "../shared/media.ts";
import { API, CHOICES, inspect, targets } from "./api.ts";
import {
  ACCOUNT_METRICS,
  analytics,
  edit,
  EDITABLE,
  insights,
  remove,
  REPORTS_SCOPE,
  setThumbnail,
} from "./live.ts";
import { checkPost, GATED, MAX_DESCRIPTION_BYTES, visibilityOf, YoutubeMetadata } from "./metadata.ts";
import { publish } from "./publish.ts";
import { addressSetting } from "../../ports/platform-setup.ts";

/**
 * What a Google Cloud project may do from one midnight in California to the next, unless it was given more:
 * https://developers.google.com/youtube/v3/determine_quota_cost
 */
const UNITS_A_DAY = 10_000;
const UPLOADS_A_DAY = 100;

/** What calls cost of these units; uploads are counted by themselves. */
const UNITS = { look: 1, change: 50, thumbnail: 50, playlistItem: 50, subtitles: 400, comment: 50 } as const;

const QUOTAS: readonly Quota[] = [
  {
    name: "videos.insert of the Google Cloud project",
    max: UPLOADS_A_DAY,
    perMinutes: 24 * 60,
    from: "America/Los_Angeles",
    scope: "app",
  },
];

const SCOPES = ["https://www.googleapis.com/auth/youtube.force-ssl", REPORTS_SCOPE] as const;

const GUIDE: SetupGuide = {
  url: "https://console.cloud.google.com/projectcreate",
  needs: [
    "YouTube's audit of the project, for videos that others can see. Until it has passed, YouTube locks all videos to private (for projects since 28 July 2020). Posthorn keeps such posts as uploaded and says so.",
    "About half an hour. It costs nothing.",
  ],
  steps: [
    "Make a project of your own there, or choose one.",
    `Under "APIs & Services", "Library", enable the ${API}.`,
    "There, enable the YouTube Analytics API, too.",
    'Under "Google Auth Platform" (the OAuth consent screen), give the app a name and your address, and choose "External" as its audience.',
    'Under "Data access", add these scopes: {scopes}',
    'Under "Clients", create an OAuth client of the type "Web application" with the authorized redirect URI {redirectUrl}',
    "Copy the client's id and secret into POSTHORN_YOUTUBE_CLIENT_ID and POSTHORN_YOUTUBE_CLIENT_SECRET.",
    'Under "Audience", press "Publish app", so that the app is "In production". Connect the channel afterwards.',
    "For videos that others can see, ask for YouTube's audit at https://support.google.com/youtube/contact/yt_api_form",
  ],
  warnings: [
    'While the app is in "Testing", Google ends each permission after 7 days and every channel must be connected again. A permission given in Testing still ends then, even if the app was published since.',
    'People see "Google hasn\'t verified this app" until Google has verified it. At most 100 people can allow an unverified app.',
    `A project may upload ${UPLOADS_A_DAY} videos and spend ${UNITS_A_DAY} units a day, from midnight to midnight Pacific time, for all channels together: asking about a video costs ${UNITS.look}, a change (edit, making public, removing) ${UNITS.change}, a thumbnail ${UNITS.thumbnail}, adding to a playlist ${UNITS.playlistItem}, subtitles of a language ${UNITS.subtitles}, a comment ${UNITS.comment}.`,
    "Thumbnails and videos of more than 15 minutes need a channel that is verified by phone: https://www.youtube.com/verify",
    "A consent is for one channel. For another one (for example a brand account) connect again and choose it.",
  ],
};

const SETTINGS: readonly PlatformSetting[] = [
  addressSetting("UPLOAD_URL", "Where videos and thumbnails are sent", "the value of BASE_URL"),
  addressSetting(
    "ANALYTICS_URL",
    "Where numbers of channels are asked for",
    "https://youtubeanalytics.googleapis.com",
  ),
];

/** https://support.google.com/youtube/answer/71673 */
const FILM = { kind: "video", mimeTypes: ACCEPTED.video, maxBytes: 256 * 1024 ** 3, maxItems: 1 } as const;
const MAX_SECONDS = 12 * 60 * 60;
const MAX_SECONDS_UNVERIFIED = 15 * 60;

const CAPABILITIES: StatedCapabilities = {
  media: { required: true, maxItems: 1, accepts: [{ ...FILM, maxSeconds: MAX_SECONDS }] },
  caption: { maxLength: MAX_DESCRIPTION_BYTES, unit: "bytes" },
  scheduling: "platform",
  // Processing takes minutes, and hours for films in 4K.
  leadMinutes: { min: 0, default: 60, max: 7 * 24 * 60 },
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: EDITABLE },
  analytics: { account: ACCOUNT_METRICS, post: ["views", "likes", "comments"] },
  reconciles: "session",
  quotas: QUOTAS,
};

export default definePlatform({
  name: "youtube",
  title: "YouTube",
  aliases: ["yt"],
  docs: "https://developers.google.com/youtube/v3/docs",
  baseUrl: "https://www.googleapis.com",
  capabilities: CAPABILITIES,
  gated: GATED,
  capabilitiesOf({ limits }, post) {
    const isVerified = !["eligible", "disallowed"].includes(String(limits["longUploads"]));
    const maxSeconds = isVerified ? MAX_SECONDS : MAX_SECONDS_UNVERIFIED;
    const media = { ...CAPABILITIES.media, accepts: [{ ...FILM, maxSeconds }] };
    // YouTube makes videos public by itself, and nothing else.
    const isFlipped = post === null || visibilityOf(post) === "public";
    return { ...CAPABILITIES, media, scheduling: isFlipped ? "platform" : "ours" };
  },
  metadata: YoutubeMetadata,
  settings: SETTINGS,
  connect: [
    {
      ...GOOGLE_CONSENT,
      kind: "oauth",
      name: "oauth",
      label: "Sign in with Google",
      instructions:
        "Sign in to Google, choose the channel, and leave all permissions ticked. Each consent is for one channel.",
      setup: GUIDE,
      scopes: SCOPES,
      neededScopes: SCOPES.slice(0, 1),
      targets,
    },
  ],
  choices: CHOICES,
  check: checkPost,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  // Of 10,000 units a day, which uploads need, too, one for each.
  results: { perMinute: 3 },
  analytics,
  remove,
});
