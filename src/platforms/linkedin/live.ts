import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import type { Inspection, PlatformAnalytics } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { orNull } from "../shared/or-null.ts";
import { askLinkedIn, requestOf, urn } from "./api.ts";
import { authorOf, isPage, type LinkedInPost } from "./metadata.ts";
import { toLittleText } from "./text.ts";

const postPath = ({ platformPostId }: LinkedInPost): string => `/rest/posts/${urn(platformPostId ?? "")}`;

export async function edit(post: LinkedInPost, _changed: readonly string[], io: PlatformIo): Promise<object> {
  const json = { patch: { $set: { commentary: toLittleText(post.caption ?? "") } } };
  const headers = { "x-restli-method": "PARTIAL_UPDATE" };
  await io.request(requestOf(io, { path: postPath(post), json, headers, kind: "read", isIdempotent: true }));
  return {};
}

export async function remove(post: LinkedInPost, io: PlatformIo): Promise<void> {
  const request = requestOf(io, {
    method: "DELETE",
    path: postPath(post),
    headers: { "x-restli-method": "DELETE" },
    kind: "read",
    isIdempotent: true,
  });
  await orNull(io.request(request));
}

const Count = z.int().min(0).nullable().catch(null).optional();

const Social = z.looseObject({
  reactionSummaries: z.record(z.string(), z.looseObject({ count: Count })).catch({}),
  commentSummary: z.looseObject({ count: Count }).catch({}),
});

const Statistics = z.looseObject({
  elements: z
    .array(
      z.looseObject({
        totalShareStatistics: z.looseObject({
          impressionCount: Count,
          uniqueImpressionsCount: Count,
          clickCount: Count,
          likeCount: Count,
          commentCount: Count,
          shareCount: Count,
        }),
      }),
    )
    .catch([]),
});

/** Reactions and comments of any post; of a Page's also how often it was seen. */
export async function insights(
  post: LinkedInPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> }> {
  const id = post.platformPostId ?? "";
  const social = await orNull(
    askLinkedIn(io, { path: `/rest/socialMetadata/${urn(id)}`, kind: "read" }, Social),
  );
  if (social === null) return { state: "removed", visibility: null, metrics: {} };
  const likes = Object.values(social.reactionSummaries).reduce((sum, { count }) => sum + (count ?? 0), 0);
  const told: Partial<Metrics> = { likes, comments: social.commentSummary.count ?? null };
  const metrics = isPage(io.account) ? { ...told, ...(await readStatistics(id, io)) } : told;
  return { state: "live", visibility: null, metrics };
}

async function readStatistics(id: string | null, io: PlatformIo): Promise<Partial<Metrics>> {
  const list = id?.startsWith("urn:li:ugcPost:") === true ? "ugcPosts" : "shares";
  const one = id === null ? "" : `&${list}=List(${urn(id)})`;
  const path = `/rest/organizationalEntityShareStatistics?q=organizationalEntity&organizationalEntity=${urn(authorOf(io.account))}${one}`;
  const { elements } = await askLinkedIn(io, { path, kind: "read" }, Statistics);
  const counts = elements[0]?.totalShareStatistics;
  if (counts === undefined) return {};
  return {
    impressions: counts.impressionCount ?? null,
    reach: counts.uniqueImpressionsCount ?? null,
    clicks: counts.clickCount ?? null,
    shares: counts.shareCount ?? null,
    likes: counts.likeCount ?? null,
    comments: counts.commentCount ?? null,
  };
}

export const PAGE_METRICS = [
  "followers",
  "impressions",
  "reach",
  "clicks",
  "likes",
  "comments",
  "shares",
] as const;

const Size = z.looseObject({ firstDegreeSize: z.int().min(0) });

/** Of Pages: how things stand now, since the Page began. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  if (!isPage(io.account)) {
    const reason = "LinkedIn tells apps such numbers of Pages alone.";
    return { totals: {}, days: [], unavailable: PAGE_METRICS.map((metric) => ({ metric, reason })) };
  }
  const path = `/rest/networkSizes/${urn(authorOf(io.account))}?edgeType=COMPANY_FOLLOWED_BY_MEMBER`;
  const { firstDegreeSize: followers } = await askLinkedIn(io, { path, kind: "read" }, Size);
  const told = Object.entries(await readStatistics(null, io)).flatMap(([name, count]) =>
    count === null ? [] : [[name, count] as const],
  );
  return { totals: { followers, ...Object.fromEntries(told) }, days: [], unavailable: [] };
}

const Person = z.looseObject({ name: z.string().catch(""), picture: z.string().catch("") });
export const Acls = z.looseObject({ elements: z.array(z.looseObject({ organization: z.string() })) });
export const ACLS_PATH = "/rest/organizationAcls?q=roleAssignee&role=ADMINISTRATOR&state=APPROVED";

/** A Page is asked whether the person still runs it, a member who they are. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  try {
    if (!isPage(io.account)) {
      const { name, picture } = await askLinkedIn(io, { path: "/v2/userinfo", kind: "read" }, Person);
      return {
        ...(name === "" ? {} : { name }),
        ...(parseUrl(picture) !== null ? { avatarUrl: picture } : {}),
        problem: null,
      };
    }
    const { elements } = await askLinkedIn(
      io,
      { path: `${ACLS_PATH}&count=100&start=0`, kind: "read" },
      Acls,
    );
    const isStill = elements.some(({ organization }) => organization === authorOf(io.account));
    return {
      problem: isStill
        ? null
        : "Whoever connected the Page is no administrator of it any more. Make them one, or let another reconnect it.",
    };
  } catch (error) {
    if (error instanceof PlatformFault && (error.kind === "rejected" || error.kind === "setup"))
      return { problem: error.message };
    throw error;
  }
}
