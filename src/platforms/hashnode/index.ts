import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import type { ConnectInput, ConnectIo, SecretsWay, Target } from "../../ports/connect.ts";
import type { MediaItem } from "../../ports/media.ts";
import { definePlatform } from "../../ports/platform.ts";
import type { Choice, Inspection, PlatformPost, PostInsights, PublishOutcome } from "../../ports/platform.ts";
import type { Json, JsonObject, PlatformIo, PlatformResponse } from "../../ports/platform-io.ts";
import { WebAddress } from "../../ports/platform-values.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { secretField } from "../shared/connect.ts";
import { byCode, faultsBy, type FaultRule, naming } from "../shared/faults.ts";
import { idReader, onlyFollowers } from "../shared/live.ts";
import { shownAs } from "../shared/markdown.ts";
import { checkFirst, fitPicture, inOrder, itemsOf, openAll, toPart } from "../shared/media.ts";
import { reconcileByListing, repeatableStep } from "../shared/reconcile.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";
import { comparable, markdownEscaper } from "../shared/text.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";

const TITLE = "Hashnode";
const API = "https://gql-beta.hashnode.com";
const NO_PRO = "The publication is not on Hashnode's Pro plan, without which its API takes no posts.";

const Errors = z.looseObject({
  errors: z.array(
    z.looseObject({
      message: z.string().catch(""),
      extensions: z.looseObject({ code: z.string() }).catch({ code: "UNKNOWN" }),
    }),
  ),
});

/** https://github.com/Hashnode/gql-skill: GraphQL names its errors in answers of 200 too. */
function codesOf({ json }: PlatformResponse): string[] {
  const errors = Errors.safeParse(json).data?.errors ?? [];
  return errors.map(({ message, extensions: { code } }) => (/pro plan/i.test(message) ? "PRO" : code));
}

function readingOf(rules: readonly FaultRule[], isIdempotent = false) {
  const broken = isIdempotent ? "transient" : "ambiguous";
  return faultsBy({
    title: TITLE,
    codesOf,
    rules: [
      ...rules,
      ...byCode("auth", { UNAUTHENTICATED: "Hashnode does not take the token (any more). Make a new one." }),
      ...byCode("setup", { PRO: `${NO_PRO} Its owner can change that on https://hashnode.com/pro.` }),
      ...byCode("rejected", {
        FORBIDDEN: "The account may not do that in this publication. Its owner can change that.",
        NOT_FOUND: "It is not on Hashnode any more. It was deleted there.",
      }),
      ...byCode(broken, { INTERNAL_SERVER_ERROR: "Hashnode had an error of its own." }),
      { status: 413, kind: "rejected", field: "caption", message: "Hashnode takes 100 KB. Shorten it." },
    ],
  });
}

const api = restApi({
  base: API,
  classify: (rules, _io, { isIdempotent }) => readingOf(rules, isIdempotent),
});

const toCall = (query: string, variables: JsonObject): ApiCall => ({
  method: "POST",
  path: "/",
  json: { query, variables },
  isIdempotent: true,
});
const answering = <T>(it: z.ZodType<T>) => z.looseObject({ data: z.looseObject({ it }) });

/** Something of the channel's publication. */
async function read<T>(io: PlatformIo, fields: string, schema: z.ZodType<T>, rules: FaultRule[] = []) {
  const query = `query ($id: ObjectId) { it: publication(id: $id) { ${fields} } }`;
  const call = { ...toCall(query, { id: io.account.platformAccountId }), rules };
  return (await api.ask(io, call, answering(schema))).data.it;
}

/** Changes something. `more`: where it must not be asked for twice. */
async function change<T>(
  io: PlatformIo,
  name: string,
  [input, fields]: [JsonObject, string],
  schema: z.ZodType<T>,
  more: Partial<ApiCall> = {},
) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { it: ${name}(input: $input) { ${fields} } }`;
  return (await api.ask(io, { ...toCall(query, { input }), ...more }, answering(schema))).data.it;
}

const { title, altText, moreMedia, thumbnailUrl, tags, format } = commonMetadata;
const Text = z.string().min(1).max(250);
const Tag = z
  .string()
  .regex(/^[a-z0-9-]{1,100}$/i, "must be a tag's name in its address, such as web-development");
const SeriesId = z.string().regex(/^[0-9a-f]{24}$/, "must be the id of a series (list_choices)");
const Address = z.url({ protocol: /^https?$/ }).max(2_000);

/** What an article takes beside its text. */
const Metadata = z.strictObject({
  title: title.unwrap().max(250).describe("Title, max. 250 characters."),
  subtitle: Text.optional().describe("Line below the title."),
  tags: tags.unwrap().max(15).describe("Tags.").optional(),
  altText,
  moreMedia: moreMedia.describe("Further pictures."),
  thumbnailUrl: thumbnailUrl.describe("Cover image."),
  format: format.describe("How the caption is read: plain (default), or markdown, as Hashnode has it."),
  series: SeriesId.optional().describe("Id of the series that it belongs to (list_choices)."),
  canonicalUrl: Address.optional().describe("Where the article first appeared."),
  newsletter: z
    .boolean()
    .optional()
    .describe("True: it is mailed to the subscribers. This cannot be undone."),
});
type Post = PlatformPost<z.infer<typeof Metadata>>;

const TOKEN_PLACE = "On https://hashnode.com/settings/developer, generate a personal access token.";

const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "Personal access token",
  instructions: `${TOKEN_PLACE} The publication must be on Hashnode's Pro plan: its API takes nothing else. Articles cannot be deleted through the API.`,
  fields: [secretField("accessToken", "Personal access token", TOKEN_PLACE)],
  renewal: null,
  connect,
};

const Publication = z.looseObject({
  id: z.string(),
  title: z.string(),
  url: WebAddress.nullish().catch(null),
});
const Me = z.looseObject({
  profilePicture: WebAddress.nullish().catch(null),
  publications: z.looseObject({ edges: z.array(z.looseObject({ node: Publication })) }),
});

/** A channel for each of the person's publications. */
async function connect({ name, secrets }: ConnectInput, io: ConnectIo) {
  const query =
    "query { it: me { profilePicture publications(first: 50) { edges { node { id title url } } } } }";
  const asked = () => api.askWith(io, { secrets }, toCall(query, {}), answering(Me));
  const { profilePicture: avatarUrl = null, publications } = (await naming("accessToken", asked)).data.it;
  const targets = publications.edges.map(({ node: { id, title: called, url = null } }): Target => {
    const handle = url === null ? null : new URL(url).host;
    return {
      platformAccountId: id,
      name: name ?? called,
      handle,
      profileUrl: url,
      avatarUrl,
      settings: {},
      secrets,
    };
  });
  return { tokens: null, targets };
}

async function inspect(io: PlatformIo): Promise<Inspection> {
  const found = await read(io, "title url", Publication.omit({ id: true }).nullable(), [
    { code: "PRO", kind: "ok" },
  ]);
  return found === null ? { problem: NO_PRO } : { name: found.title, problem: null };
}

const IMAGES = {
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  maxBytes: 8_000_000,
  maxItems: 21,
} as const;

const Place = z.looseObject({
  presignedPost: z.looseObject({
    url: z.url(),
    fields: z.looseObject({ key: z.string() }).catchall(z.string()),
  }),
});

/** Brings a picture to Hashnode, which nobody sees yet. Gives its address there. */
async function upload(item: MediaItem, io: PublishIo): Promise<string> {
  const file = await fitPicture(item, IMAGES, io);
  const input = [{ contentType: file.mimeType }, "presignedPost { url fields }"] as [JsonObject, string];
  const { url, fields } = (await change(io, "createImageUploadURL", input, Place)).presignedPost;
  const multipart = [...Object.entries(fields).map(([name, text]) => ({ name, text })), toPart("file", file)];
  await io.request({ ...UPLOAD_TIMES, method: "POST", url, multipart, isIdempotent: true });
  return `https://cdn.hashnode.com/${fields.key}`;
}

const escape = markdownEscaper({ starts: "#>+=:-", signs: "\\\\*_~`^|[\\]<>&%$" });

/** Its pictures, then its text, in Markdown. A plain text keeps its lines. */
function bodyOf(post: Post, pictures: readonly string[]): string {
  const text = post.caption ?? "";
  const plain = () =>
    escape(text)
      .split("\n\n")
      .map((one) => one.replaceAll("\n", "  \n"))
      .join("\n\n");
  const shown = itemsOf(post).map(
    ({ altText: alt }, at) => `![${escape((alt ?? "").replaceAll("\n", " "))}](${pictures[at] ?? ""})`,
  );
  return [...shown, post.metadata.format === "markdown" ? text : plain()]
    .filter((one) => one !== "")
    .join("\n\n");
}

/** Hashnode's names of what may be changed; null takes away what is not said any more. */
const fieldsOf = ({ metadata }: Post): JsonObject => ({
  title: metadata.title,
  subtitle: metadata.subtitle ?? null,
  tags: (metadata.tags ?? []).map((slug) => ({ slug: slug.toLowerCase() })),
  seriesId: metadata.series ?? null,
  originalArticleURL: metadata.canonicalUrl ?? null,
});

const stepOf = (at: number): string => `upload ${at + 1}`;
const Live = z.looseObject({ id: z.string(), url: WebAddress.nullable().catch(null) });
type Live = { readonly id: string; readonly url: string | null };

/** Pictures, then a draft, which only the team sees; then that draft becomes an article. */
async function publish(post: Post, io: PublishIo): Promise<PublishOutcome> {
  const bring = (item: MediaItem, step: string) =>
    repeatableStep<string>(io, { step, request: { url: item.url }, send: () => upload(item, io) });
  const pictures = await inOrder(await openAll(itemsOf(post), io), (item, at) => bring(item, stepOf(at)));
  const { thumbnailUrl: cover, newsletter: activateNewsletter = false } = post.metadata;
  const coverImageURL = cover === undefined ? null : await bring(await io.media.item(cover), "upload cover");
  if (!io.isDue) return { state: "prepared" };
  const contentMarkdown = bodyOf(post, pictures);
  const input: JsonObject = {
    ...fieldsOf(post),
    ...(coverImageURL === null ? {} : { coverImageOptions: { coverImageURL } }),
    publicationId: io.account.platformAccountId,
    contentMarkdown,
    settings: { activateNewsletter },
  };
  const draftId = await repeatableStep<string>(io, {
    step: "draft",
    request: input,
    send: async () => (await change(io, "createDraft", [input, "draft { id }"], Draft)).draft.id,
  });
  const find = (since: number) => findArticle({ title: post.metadata.title, contentMarkdown }, since, io);
  const { id, url } = await io.effect<Live>({
    step: "publish",
    request: { draftId },
    send: async () => {
      const more = { isIdempotent: false, rules: [DRAFT_GONE] };
      const done = await change(
        io,
        "publishDraft",
        [{ draftId }, "post { id url }"],
        z.looseObject({ post: Live }),
        more,
      );
      return { id: done.post.id, url: done.post.url };
    },
    // Answers of the API are up to 25 seconds old.
    reconcile: (context) => reconcileByListing(context, { now: io.now(), listedAfterMs: 2 * MINUTE, find }),
    live: (done) => ({ platformPostId: done.id, platformUrl: done.url }),
  });
  return { state: "live", platformPostId: id, platformUrl: url };
}

const Draft = z.looseObject({ draft: z.looseObject({ id: z.string() }) });
/** Hashnode forgets a draft when it becomes an article: that may have been ours. */
const DRAFT_GONE: FaultRule = {
  code: "NOT_FOUND",
  kind: "ambiguous",
  message: "The draft is not there any more.",
};

const Article = Live.extend({
  title: z.string().catch(""),
  publishedAt: z.string().catch(""),
  content: z.looseObject({ markdown: z.string() }).catch({ markdown: "" }),
});
const Articles = z.looseObject({
  posts: z.looseObject({ edges: z.array(z.looseObject({ node: Article })) }),
});

/** The newest article since then with this title and text. */
async function findArticle(
  sent: { title: string; contentMarkdown: string },
  since: number,
  io: PlatformIo,
): Promise<Live | null> {
  const fields = "posts(first: 20) { edges { node { id url title publishedAt content { markdown } } } }";
  const { posts } = await read(io, fields, Articles);
  const wanted = comparable(`${sent.title} ${sent.contentMarkdown}`);
  const found = posts.edges.find(
    ({ node: { publishedAt, title: called, content } }) =>
      !(Date.parse(publishedAt) < since) && comparable(`${called} ${content.markdown}`) === wanted,
  );
  return found === undefined ? null : { id: found.node.id, url: found.node.url };
}

const idOf = idReader("is not the id of an article, so it cannot be found on Hashnode.", /^[0-9a-f]{24}$/);

const EDITABLE: Readonly<Record<string, string>> = {
  title: "title",
  subtitle: "subtitle",
  tags: "tags",
  series: "seriesId",
  canonicalUrl: "originalArticleURL",
};
const WRITTEN = ["caption", "altText", "format"];

async function update(post: Post, fields: JsonObject, io: PlatformIo) {
  const input = { id: idOf(post), ...fields };
  const done = await change(io, "updatePost", [input, "post { id url }"], z.looseObject({ post: Live }));
  return done.post.url === null ? {} : { platformUrl: done.post.url };
}

function edit(post: Post, changed: readonly string[], io: PublishIo) {
  const all = fieldsOf(post);
  const named = changed.flatMap((name): [string, Json][] => {
    const theirs = EDITABLE[name];
    return theirs === undefined ? [] : [[theirs, all[theirs] ?? null]];
  });
  if (!WRITTEN.some((name) => changed.includes(name))) return update(post, Object.fromEntries(named), io);
  const pictures = itemsOf(post).map((_item, at) => z.string().safeParse(io.resultOf(stepOf(at))).data);
  if (pictures.includes(undefined))
    throw new AppError(
      "conflict",
      "Posthorn does not know where the article's pictures are. Change it on Hashnode.",
    );
  return update(
    post,
    { ...Object.fromEntries(named), contentMarkdown: bodyOf(post, pictures as string[]) },
    io,
  );
}

const Count = z.int().min(0).nullish().catch(null);
const Counted = z.looseObject({ views: Count, reactionCount: Count, responseCount: Count }).nullable();

async function insights(post: Post, io: PlatformIo): Promise<PostInsights> {
  const query = "query ($id: ID!) { it: post(id: $id) { id views reactionCount responseCount } }";
  const call = { ...toCall(query, { id: idOf(post) }), rules: [{ code: "NOT_FOUND", kind: "ok" } as const] };
  const found = (await api.ask(io, call, answering(Counted))).data.it;
  if (found === null) return { state: "removed", visibility: null, metrics: {} };
  const { views = null, reactionCount: likes = null, responseCount: comments = null } = found;
  return { state: "live", visibility: "public", metrics: { views, likes, comments } };
}

const Series = z.looseObject({
  seriesList: z.looseObject({
    edges: z.array(z.looseObject({ node: z.looseObject({ id: z.string(), name: z.string() }) })),
  }),
});

async function series(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const { seriesList } = await read(io, "seriesList(first: 100) { edges { node { id name } } }", Series);
  const all = seriesList.edges.map(({ node: { id, name } }) => ({ value: id, label: name }));
  return all.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
}

/** Articles in a publication on Hashnode's Pro plan. */
export default definePlatform({
  name: "hashnode",
  title: TITLE,
  docs: "https://github.com/Hashnode/gql-skill",
  baseUrl: API,
  capabilities: {
    media: { required: false, maxItems: IMAGES.maxItems, accepts: [IMAGES] },
    // A request has 100 KB at most, with marks that keep a plain text plain.
    caption: { maxLength: 80_000, unit: "bytes" },
    scheduling: "prepare",
    leadMinutes: { min: 0, default: 0, max: DAY / MINUTE },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: [...WRITTEN, ...Object.keys(EDITABLE)] },
    analytics: { account: ["followers"], post: ["views", "likes", "comments"] },
    reconciles: "list",
    fetchesMedia: [],
    quotas: [],
  },
  metadata: Metadata,
  connect: [TOKEN],
  choices: { series },
  check: (post) => ({ errors: checkFirst(post, "picture"), warnings: [] }),
  preview: ({ metadata }) => shownAs(metadata.format),
  inspect,
  publish,
  edit,
  setThumbnail: async (post, url, io) => {
    await update(post, { coverImage: await upload(await io.media.item(url), io) }, io);
  },
  insights,
  analytics: async (_range, io) => {
    const Followed = z.looseObject({ followersCount: Count });
    return onlyFollowers(TITLE, (await read(io, "followersCount", Followed)).followersCount ?? undefined);
  },
});
