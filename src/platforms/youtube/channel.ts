import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { OAuthIo, Target, Tokens } from "../../ports/connect.ts";
import type { Choice, Inspection } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { askAs, askWith, type Call } from "./api.ts";

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

const MINE: Call = {
  resource: "channels",
  query: { part: "id,snippet,contentDetails,statistics,status", mine: true },
};

/** The channel of an account, or of a consent. */
interface Found {
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

function read({ items: [item] }: z.infer<typeof Channels>): Found | null {
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
export async function findChannel(io: PlatformIo): Promise<Found | null> {
  return read(await askAs(io, MINE, Channels));
}

/** A consent is good for one channel: the one that the person chose. */
export async function targets({ secrets }: Tokens, io: OAuthIo): Promise<readonly Target[]> {
  const found = read(await askWith(io, secrets["accessToken"] ?? "", MINE, Channels));
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
  const { items } = await askAs(io, { resource: "videoCategories", query }, Categories);
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
  const all: Choice[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { part: "snippet", mine: true, maxResults: 50, pageToken };
    const { items, nextPageToken } = await askAs(io, { resource: "playlists", query }, Playlists);
    all.push(...items.map(({ id, snippet }) => ({ value: id, label: snippet.title })));
    if (nextPageToken === undefined) break;
    pageToken = nextPageToken;
  }
  return fitting(search, all);
}

function fitting(search: string, all: readonly Choice[]): Choice[] {
  const wanted = search.toLowerCase();
  return all.filter(({ value, label }) => value === search || label.toLowerCase().includes(wanted));
}

export const CHOICES = { categoryId: categories, playlistId: playlists } as const;
