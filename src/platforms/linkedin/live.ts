import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { mentionToken } from "../../domain/posts/mentions.ts";
import type { Insights, Metrics } from "../../domain/posts/post.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import { type PlatformAccount, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Choice, Inspection, PlatformAnalytics } from "../../ports/platform.ts";
import { orNull } from "../shared/faults.ts";
import { pages } from "../shared/pages.ts";
import { askLinkedIn, findPost, readMember, sendLinkedIn, urn } from "./api.ts";
import { authorOf, isAllowed, isPage, type LinkedInPost, toLittleText } from "./metadata.ts";

const Role = z.looseObject({ organization: z.string(), role: z.string().nullish().catch(null) });
const Acls = z.looseObject({ elements: z.array(Role) });
const ACLS_PATH = "/rest/organizationAcls?q=roleAssignee&state=APPROVED";
const PAGE = 100;
const MAX_PAGES = 5;

/**
 * Roles whose holders post as the Page:
 * https://learn.microsoft.com/en-us/linkedin/marketing/community-management/organizations/organization-access-control-by-role
 */
const POSTING: readonly string[] = ["ADMINISTRATOR", "CONTENT_ADMINISTRATOR"];

/** The Pages on which the person has a role, and whether one of their roles there lets them post. */
export async function readRoles(
  io: PlatformIo | ConnectIo,
  secrets?: Secrets,
): Promise<ReadonlyMap<string, boolean>> {
  const listed = pages(MAX_PAGES, async (start: number = 0) => {
    const path = `${ACLS_PATH}&count=${PAGE}&start=${start}`;
    const { elements } = await askLinkedIn(io, { path, kind: "read" }, Acls, secrets);
    return { items: elements, next: elements.length < PAGE ? null : start + PAGE };
  });
  const found = new Map<string, boolean>();
  for await (const { organization, role = null } of listed)
    found.set(organization, found.get(organization) === true || role === null || POSTING.includes(role));
  return found;
}

/** A Page is asked whether the person still runs it, a member who they are. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  try {
    if (!isPage(io.account)) {
      const member = await readMember(io, { isAllowed: (scope) => isAllowed(io.account, scope) });
      const { name = null, picture = null } = member ?? {};
      return {
        ...(name === null ? {} : { name }),
        ...(picture === null ? {} : { avatarUrl: picture }),
        problem: null,
      };
    }
    const mayPost = (await readRoles(io)).get(authorOf(io.account)) === true;
    return {
      problem: mayPost
        ? null
        : "The person who connected the Page may no longer post as it. Make them its super admin or content admin again, or let another one reconnect it.",
    };
  } catch (error) {
    if (error instanceof PlatformFault && (error.kind === "rejected" || error.kind === "setup"))
      return { problem: error.message };
    throw error;
  }
}

const postPath = ({ platformPostId }: LinkedInPost): string => `/rest/posts/${urn(platformPostId ?? "")}`;

export async function edit(post: LinkedInPost, _changed: readonly string[], io: PlatformIo): Promise<object> {
  const json = { patch: { $set: { commentary: toLittleText(post.caption ?? "") } } };
  const headers = { "x-restli-method": "PARTIAL_UPDATE" };
  await sendLinkedIn(io, { path: postPath(post), json, headers, kind: "read", isIdempotent: true });
  return {};
}

const Found = z.looseObject({
  elements: z.array(z.looseObject({ id: z.union([z.int(), z.string()]), localizedName: z.string() })),
});

/**
 * The organization of this name in its Page's address:
 * https://learn.microsoft.com/en-us/linkedin/marketing/community-management/organizations/organization-lookup-api
 */
export async function organizations(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const [, inAddress] = (parseUrl(search)?.pathname ?? "").split("/company/");
  const vanityName = (inAddress ?? search).split("/")[0]?.trim() ?? "";
  if (vanityName === "") return [];
  const path = `/rest/organizations?q=vanityName&vanityName=${encodeURIComponent(vanityName)}`;
  const call = { path, headers: { "x-restli-method": "FINDER" }, kind: "read" } as const;
  const { elements } = await askLinkedIn(io, call, Found);
  return elements.map(({ id, localizedName: name }) => ({
    value: mentionToken(name, `urn:li:organization:${id}`),
    label: name,
  }));
}

export async function remove(post: LinkedInPost, io: PlatformIo): Promise<void> {
  const call = { method: "DELETE", path: postPath(post), kind: "read", isIdempotent: true } as const;
  await orNull(sendLinkedIn(io, { ...call, headers: { "x-restli-method": "DELETE" } }));
}

type PostMetrics = Partial<Metrics>;

/** What LinkedIn calls the numbers that it tells of a member's post. */
const MEMBER_QUERIES = {
  impressions: "IMPRESSION",
  reach: "MEMBERS_REACHED",
  likes: "REACTION",
  comments: "COMMENT",
  shares: "RESHARE",
} as const satisfies { readonly [metric in keyof Metrics]?: string };

/** Which numbers of a post the channel's permissions open. */
export function postMetricsOf(account: PlatformAccount): readonly string[] {
  if (isPage(account)) return ["impressions", "reach", "clicks", "likes", "comments", "shares"];
  if (isAllowed(account, "r_member_postAnalytics")) return Object.keys(MEMBER_QUERIES);
  return isAllowed(account, "r_member_social_feed") ? ["likes", "comments"] : [];
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

const MemberCount = z.looseObject({ elements: z.array(z.looseObject({ count: Count })).catch([]) });

export async function insights(
  post: LinkedInPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: PostMetrics }> {
  const id = post.platformPostId ?? "";
  const read = isPage(io.account) ? readPagePost(id, io) : readMemberPost(id, io);
  const metrics = await orNull(read);
  return metrics === null
    ? { state: "removed", visibility: null, metrics: {} }
    : { state: "live", visibility: null, metrics };
}

/** Each of these may be refused by itself, for want of a permission or of a role on the Page. */
async function readPagePost(id: string, io: PlatformIo): Promise<PostMetrics> {
  if (isAllowed(io.account, "r_organization_social")) await unlessRefused(findPost(io, id));
  const social = isAllowed(io.account, "r_organization_social_feed")
    ? await unlessRefused(readSocial(id, io))
    : null;
  return { ...social, ...(await unlessRefused(readStatistics(id, io))) };
}

async function readMemberPost(id: string, io: PlatformIo): Promise<PostMetrics> {
  const { account } = io;
  const social = isAllowed(account, "r_member_social_feed") ? await readSocial(id, io) : null;
  if (!isAllowed(account, "r_member_postAnalytics")) {
    if (social !== null) return social;
    throw new PlatformFault(
      "rejected",
      "LinkedIn shows the app of this channel no numbers of a member's posts. An app with the Community Management API gets them.",
    );
  }
  const counted: PostMetrics = { ...social };
  for (const [metric, query] of Object.entries(MEMBER_QUERIES))
    Object.assign(counted, { [metric]: await readMemberCount(id, query, io) });
  return counted;
}

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/members/post-statistics */
async function readMemberCount(id: string, query: string, io: PlatformIo): Promise<number | null> {
  const entity = `(${id.startsWith("urn:li:ugcPost:") ? "ugc" : "share"}:${urn(id)})`;
  const path = `/rest/memberCreatorPostAnalytics?q=entity&entity=${entity}&queryType=${query}&aggregation=TOTAL`;
  const { elements } = await askLinkedIn(io, { path, kind: "read" }, MemberCount);
  return elements[0]?.count ?? null;
}

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management/shares/social-metadata-api */
async function readSocial(id: string, io: PlatformIo): Promise<PostMetrics> {
  const path = `/rest/socialMetadata/${urn(id)}`;
  const social = await askLinkedIn(io, { path, kind: "read" }, Social);
  const likes = Object.values(social.reactionSummaries).reduce((sum, { count }) => sum + (count ?? 0), 0);
  return { likes, comments: social.commentSummary.count ?? null };
}

async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (error instanceof PlatformFault && error.httpStatus === 403) return null;
    throw error;
  });
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
    const reason = "LinkedIn gives apps such numbers only for Pages.";
    return { totals: {}, days: [], unavailable: PAGE_METRICS.map((metric) => ({ metric, reason })) };
  }
  const path = `/rest/networkSizes/${urn(authorOf(io.account))}?edgeType=COMPANY_FOLLOWED_BY_MEMBER`;
  const { firstDegreeSize: followers } = await askLinkedIn(io, { path, kind: "read" }, Size);
  const told = Object.entries(await readStatistics(null, io)).flatMap(([name, count]) =>
    count === null ? [] : [[name, count] as const],
  );
  return { totals: { followers, ...Object.fromEntries(told) }, days: [], unavailable: [] };
}
