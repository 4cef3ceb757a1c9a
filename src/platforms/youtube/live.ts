import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Insights } from "../../domain/posts/post.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { AnalyticsDay, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { bearer, faultsBy } from "../shared/faults.ts";
import { sendThumbnail } from "../shared/film/held.ts";
import { googleFaults } from "../shared/google.ts";
import { analyticsBaseOf, findChannel, sendOrGone } from "./api.ts";
import { visibilityOf, type YoutubePost } from "./metadata.ts";
import { thumbnailOf } from "./publish.ts";
import { declaredOf, findVideo, mutableOf, snippetOf, standingOf, updateVideo, type Video } from "./video.ts";
import { hasScope } from "../shared/consent.ts";
import { idReader } from "../shared/live.ts";

/** What of a live video can be changed, by the part of it that an update replaces whole. */
const SNIPPET_FIELDS: Readonly<Record<string, string>> = {
  caption: "description",
  title: "title",
  tags: "tags",
  categoryId: "categoryId",
  language: "defaultLanguage",
};
const STATUS_FIELDS: Readonly<Record<string, string>> = {
  visibility: "privacyStatus",
  madeForKids: "selfDeclaredMadeForKids",
  license: "license",
  embeddable: "embeddable",
  publicStatsViewable: "publicStatsViewable",
  containsSyntheticMedia: "containsSyntheticMedia",
};

export const EDITABLE = [...Object.keys(SNIPPET_FIELDS), ...Object.keys(STATUS_FIELDS)];

const idOf = idReader("is missing, so the video cannot be found on YouTube.");

/** Sends whole parts back with what differs: what was changed in YouTube Studio meanwhile stays. */
export async function edit(post: YoutubePost, changed: readonly string[], io: PublishIo): Promise<object> {
  const id = idOf(post);
  const video = await findVideo(io, id, "snippet,status");
  if (video === null)
    throw new AppError("conflict", "The video is no longer on YouTube, so it cannot be changed.");
  const snippet = editedPart(video, "snippet", {
    fields: pick(SNIPPET_FIELDS, changed),
    wanted: snippetOf(post),
  });
  const wanted = { ...declaredOf(post), privacyStatus: visibilityOf(post) };
  const status = editedPart(video, "status", { fields: pick(STATUS_FIELDS, changed), wanted });
  const parts = { ...(snippet === null ? {} : { snippet }), ...(status === null ? {} : { status }) };
  const after = standingOf(await updateVideo(io, id, parts));
  if (!changed.includes("visibility") || after.privacy === wanted.privacyStatus) return {};
  throw new AppError(
    "conflict",
    `metadata.visibility: YouTube keeps the video ${after.privacy || "as it was"}. Look at it in YouTube Studio.`,
  );
}

function pick(fields: Readonly<Record<string, string>>, changed: readonly string[]): string[] {
  return changed.flatMap((name) => fields[name] ?? []);
}

/** Null where nothing of the part changes. A field that is not given any more is left out, which erases it. */
function editedPart(
  video: Video,
  part: "snippet" | "status",
  { fields, wanted }: { readonly fields: readonly string[]; readonly wanted: JsonObject },
): JsonObject | null {
  if (fields.length === 0) return null;
  const kept = Object.entries(mutableOf(video, part)).filter(([name]) => !fields.includes(name));
  const given = fields.flatMap((name) => (wanted[name] === undefined ? [] : [[name, wanted[name]] as const]));
  const edited: JsonObject = Object.fromEntries([...kept, ...given]);
  // A time is legal only with a private video.
  if (edited["privacyStatus"] !== "private") delete edited["publishAt"];
  return edited;
}

export async function setThumbnail(post: YoutubePost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  await sendThumbnail(io, idOf(post), thumbnailOf(io, thumbnailUrl));
}

// Numbers come as texts, and not at all where the channel hides them.
const Count = z.coerce.number().int().min(0).optional().catch(undefined);
const Statistics = z.looseObject({ viewCount: Count, likeCount: Count, commentCount: Count });

export async function insights(post: YoutubePost, io: PlatformIo): Promise<PostInsights> {
  const video = await findVideo(io, idOf(post), "statistics,status,processingDetails");
  if (video === null) return { state: "removed", visibility: null, metrics: {} };
  const standing = standingOf(video);
  const { viewCount, likeCount, commentCount } = Statistics.parse(video.statistics ?? {});
  const numbers = { views: viewCount, likes: likeCount, comments: commentCount };
  const known = Object.entries(numbers).filter(([, count]) => count !== undefined);
  return {
    state: stateOf(standing),
    visibility: standing.privacy === "" ? null : standing.privacy,
    metrics: Object.fromEntries(known),
  };
}

function stateOf({ state, privacy }: ReturnType<typeof standingOf>): Insights["state"] {
  if (state === "failed") return "rejected";
  if (state === "deleted") return "removed";
  if (state === "processing") return "processing";
  return privacy === "private" ? "private" : "live";
}

/** What is gone already is no error. */
export async function remove(post: YoutubePost, io: PlatformIo): Promise<void> {
  const call = { method: "DELETE", path: "videos", query: { id: idOf(post) }, isIdempotent: true } as const;
  await sendOrGone(io, call);
}

/** https://developers.google.com/youtube/analytics/metrics; what of them adds up over days. */
const SUMS = [
  "views",
  "likes",
  "comments",
  "shares",
  "estimatedMinutesWatched",
  "subscribersGained",
  "subscribersLost",
] as const;
/** Of the whole time they are asked for by themselves. */
const MEANS = ["averageViewDuration", "averageViewPercentage"] as const;

export const REPORTS_SCOPE = "https://www.googleapis.com/auth/yt-analytics.readonly";

const METRICS = [...SUMS, ...MEANS];

export const ACCOUNT_METRICS = ["followers", ...METRICS];

const Report = z.looseObject({
  columnHeaders: z.array(z.looseObject({ name: z.string() })),
  // Left out where there are no numbers.
  rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))).default([]),
});

/** By day and in total. YouTube's numbers are some two days behind. */
export async function analytics(
  range: { readonly from: string; readonly to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const mayRead = hasScope(REPORTS_SCOPE)(io);
  const [total] = mayRead ? await readReport(io, range, {}) : [];
  const byDay = mayRead ? await readReport(io, range, { dimensions: "day", sort: "day" }) : [];
  const channel = await findChannel(io);
  const followers = channel?.followers ?? null;
  const days = byDay.map(({ texts, numbers }): AnalyticsDay => ({
    date: texts["day"] ?? "",
    metrics: numbers,
  }));
  return {
    totals: { ...total?.numbers, ...(followers === null ? {} : { followers }) },
    days: days.filter(({ date }) => date !== ""),
    unavailable: [
      ...(followers === null
        ? [{ metric: "followers", reason: "The channel hides how many there are." }]
        : []),
      ...METRICS.filter((metric) => total?.numbers[metric] === undefined).map((metric) => ({
        metric,
        reason: mayRead
          ? "YouTube has no numbers for these days (yet). They come some two days later."
          : "The channel was connected without the permission for YouTube Analytics. Connect it again and leave all permissions ticked.",
      })),
    ],
  };
}

const Texts = z.record(z.string(), z.string());
const Numbers = z.record(z.string(), z.number());

interface Row {
  readonly texts: Readonly<Record<string, string>>;
  readonly numbers: Readonly<Record<string, number>>;
}

async function readReport(
  io: PlatformIo,
  { from, to }: { readonly from: string; readonly to: string },
  grouping: { readonly dimensions?: string; readonly sort?: string },
): Promise<Row[]> {
  const { columnHeaders, rows } = await io.ask(
    {
      method: "GET",
      url: `${analyticsBaseOf(io)}/v2/reports`,
      query: { ids: "channel==MINE", startDate: from, endDate: to, metrics: METRICS.join(","), ...grouping },
      sign: bearer(),
      classify: faultsBy(googleFaults({ title: "YouTube", api: "YouTube Analytics API", rules: [] }, io)),
    },
    Report,
  );
  return rows.map((row) => {
    const cells = columnHeaders.map(({ name }, at) => [name, row[at]] as const);
    return {
      texts: Texts.parse(Object.fromEntries(cells.filter(([, value]) => typeof value === "string"))),
      numbers: Numbers.parse(Object.fromEntries(cells.filter(([, value]) => typeof value === "number"))),
    };
  });
}
