import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { DAY, HOUR } from "../../domain/time.ts";
import type { OAuthIo, Target, Tokens } from "../../ports/connect.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { Choice, Inspection } from "../../ports/platform.ts";
import { byCode, type FaultRule, type FaultTable } from "../shared/faults.ts";
import { googleFaults } from "../shared/google.ts";
import { collect, pages } from "../shared/pages.ts";
import { restApi } from "../shared/rest-api.ts";

const GOOGLE = "https://www.googleapis.com";

type Settings = Pick<PlatformIo, "setting">;

function baseOf(io: Settings): string {
  return io.setting("BASE_URL") ?? GOOGLE;
}

/** Where files are sent. */
export function uploadBaseOf(io: Settings): string {
  return io.setting("UPLOAD_URL") ?? baseOf(io);
}

export function analyticsBaseOf(io: Settings): string {
  return io.setting("ANALYTICS_URL") ?? "https://youtubeanalytics.googleapis.com";
}

/** Where people look at a video. */
export function watchUrl(id: string): string {
  return `https://www.youtube.com/watch?v=${id}`;
}

/** The Data API. */
export const {
  ask: askAs,
  askWith,
  send,
  sendOrGone,
} = restApi({
  base: GOOGLE,
  below: "/youtube/v3/",
  faults: youtubeFaults,
});

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
  ...byCode("rejected", {
    "invalidVideoMetadata invalidRecordingDetails": `YouTube refused the data of the video (title, category and so on). ${CHANGE_IT}`,
  }),
  {
    code: "uploadLimitExceeded",
    kind: "rate",
    retryAfterMs: DAY,
    message:
      "YouTube takes no more videos from this channel for now. Its daily limit of uploads is reached. Verify the channel at https://www.youtube.com/verify to raise it, or wait a day.",
  },
  {
    code: "uploadRateLimitExceeded",
    kind: "rate",
    retryAfterMs: 4 * HOUR,
    message: "The channel set too many thumbnails. Wait some hours.",
  },
  ...byCode("auth", {
    "youtubeSignupRequired channelNotFound":
      "The Google account has no YouTube channel (any more). Make one at https://www.youtube.com/create_channel first.",
    "authenticatedUserAccountClosed authenticatedUserAccountSuspended channelClosed channelSuspended":
      "YouTube closed or suspended this channel. Settle that with YouTube first.",
  }),
  { status: 409, kind: "transient", message: "YouTube was busy with another change." },
];

export const API = "YouTube Data API v3";

/** How answers of the Data API are read. */
export function youtubeFaults(io: Pick<PlatformIo, "now">): FaultTable {
  return googleFaults({ title: "YouTube", api: API, rules: RULES }, io);
}

const Channel = z.looseObject({
  id: z.string().min(1),
  snippet: z
    .looseObject({
      title: z.string().catch(""),
      customUrl: z.string().optional(),
      country: z.string().optional(),
      thumbnails: z.looseObject({ default: z.looseObject({ url: z.url() }).optional() }).catch({}),
    })
    .prefault({ title: "", thumbnails: {} }),
  contentDetails: z
    .looseObject({ relatedPlaylists: z.looseObject({ uploads: z.string().optional() }).catch({}) })
    .optional(),
  statistics: z
    .looseObject({
      subscriberCount: z.coerce.number().int().optional(),
      hiddenSubscriberCount: z.boolean().optional(),
    })
    .optional(),
  status: z.looseObject({ longUploadsStatus: z.string().optional() }).optional(),
});

const Channels = z.looseObject({ items: z.array(Channel).default([]) });

const MINE = {
  path: "channels",
  query: { part: "id,snippet,contentDetails,statistics,status", mine: true },
};

/** The channel of an account, or of a consent. */
interface ChannelProfile {
  readonly id: string;
  readonly name: string;
  readonly handle: string | null;
  readonly avatarUrl: string | null;
  /** The list of what it uploaded. */
  readonly uploads: string | null;
  readonly country: string | null;
  /** Null where it hides them. */
  readonly followers: number | null;
  /** Whether it may upload more than 15 minutes: allowed, eligible, disallowed; "" where it was not told. */
  readonly longUploads: string;
}

function read({ items: [item] }: z.infer<typeof Channels>): ChannelProfile | null {
  if (item === undefined) return null;
  const { id, snippet, contentDetails, statistics, status } = item;
  return {
    id,
    name: snippet.title === "" ? id : snippet.title,
    handle: snippet.customUrl ?? null,
    avatarUrl: snippet.thumbnails.default?.url ?? null,
    uploads: contentDetails?.relatedPlaylists.uploads ?? null,
    country: snippet.country ?? null,
    followers: statistics?.hiddenSubscriberCount === true ? null : (statistics?.subscriberCount ?? null),
    longUploads: status?.longUploadsStatus ?? "",
  };
}

/** Null where the Google account has no channel any more. */
export async function findChannel(io: PlatformIo): Promise<ChannelProfile | null> {
  return read(await askAs(io, MINE, Channels));
}

/** A consent is good for one channel: the one that the person chose. */
export async function targets({ secrets }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const found = read(await askWith(io, { secrets }, MINE, Channels));
  if (found === null)
    throw new AppError(
      "invalid",
      "This Google account has no YouTube channel. Make one at https://www.youtube.com/create_channel, or choose another account, and ask for a new link.",
    );
  const { id, name, handle, avatarUrl, uploads } = found;
  const profileUrl = `https://www.youtube.com/channel/${id}`;
  const settings = uploads === null ? {} : { uploads };
  return [{ platformAccountId: id, name, handle, profileUrl, avatarUrl, settings, secrets: {} }];
}

export async function inspect(io: PlatformIo): Promise<Inspection> {
  const found = await findChannel(io);
  if (found === null)
    return {
      problem: "The Google account has no YouTube channel any more. Reconnect with an account that has one.",
    };
  const { name, handle, avatarUrl, longUploads, country } = found;
  const isKept = typeof io.account.settings["keptPrivateAt"] === "string";
  return {
    name,
    handle,
    avatarUrl,
    limits: { longUploads, country },
    problem: isKept
      ? "YouTube kept the last video private: the Google Cloud project has to pass its audit first."
      : null,
  };
}

const Categories = z.looseObject({
  items: z
    .array(
      z.looseObject({
        id: z.string(),
        snippet: z.looseObject({ title: z.string().catch(""), assignable: z.boolean().catch(false) }),
      }),
    )
    .default([]),
});

/** Those of the channel's country that videos may have. */
async function categories(search: string, io: PlatformIo): Promise<Choice[]> {
  const country = z.string().length(2).safeParse(io.account.limits["country"]).data ?? "US";
  const query = { part: "snippet", regionCode: country };
  const { items } = await askAs(io, { path: "videoCategories", query }, Categories);
  const assignable = items.filter(({ snippet }) => snippet.assignable);
  return fitting(
    search,
    assignable.map(({ id, snippet }) => ({ value: id, label: snippet.title })),
  );
}

const MAX_PAGES = 10;

const Playlists = z.looseObject({
  items: z
    .array(z.looseObject({ id: z.string(), snippet: z.looseObject({ title: z.string().catch("") }) }))
    .default([]),
  nextPageToken: z.string().optional(),
});

async function playlists(search: string, io: PlatformIo): Promise<Choice[]> {
  const listed = pages(MAX_PAGES, async (pageToken) => {
    const query = { part: "snippet", mine: true, maxResults: 50, pageToken };
    const { items, nextPageToken: next } = await askAs(io, { path: "playlists", query }, Playlists);
    return { items, next };
  });
  const all = await collect(listed);
  return fitting(
    search,
    all.map(({ id, snippet }) => ({ value: id, label: snippet.title })),
  );
}

function fitting(search: string, all: readonly Choice[]): Choice[] {
  const wanted = search.toLowerCase();
  return all.filter(({ value, label }) => value === search || label.toLowerCase().includes(wanted));
}

export const CHOICES = { categoryId: categories, playlistId: playlists } as const;
