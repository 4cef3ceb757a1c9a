import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import { DAY, MINUTE } from "../../domain/time.ts";
import type { ConnectInput, ConnectIo, SecretsWay, Target } from "../../ports/connect.ts";
import type { MediaItem } from "../../ports/media.ts";
import { definePlatform } from "../../ports/platform.ts";
import type { Choice, Inspection, PlatformPost, PostInsights, PublishOutcome } from "../../ports/platform.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { WebAddress } from "../../ports/platform-values.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { secretField } from "../shared/connect.ts";
import { byCode, type FaultTable, type FaultRule, naming } from "../shared/faults.ts";
import { idReader, onlyFollowers } from "../shared/live.ts";
import { shownThere } from "../shared/shown.ts";
import { checkFirst, fitPicture, inOrder, itemsOf, openAll, toPart } from "../shared/media.ts";
import { reconcileByListing, repeatableStep } from "../shared/reconcile.ts";
import { restApi } from "../shared/rest-api.ts";
import { markdownEscaper } from "../../domain/text/markdown-escaper.ts";
import { comparable, keepLines } from "../shared/text.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";

const TITLE = "Hashnode";
const API = "https://gql-beta.hashnode.com";
const NO_PRO = "The publication is not on Hashnode's Pro plan, without which its API takes no posts.";
const CONTRIBUTOR =
  "You are a contributor of this publication, and may only hand in drafts. Ask its owner to make you an editor.";

/** https://github.com/Hashnode/gql-skill: GraphQL names its errors in answers of 200 too. */
const Coded = z.looseObject({ code: z.string() }).catch({ code: "UNKNOWN" });
const Failure = z
  .looseObject({ message: z.string().catch(""), extensions: Coded })
  .transform(({ message, extensions: { code } }) => (/pro plan/i.test(message) ? "PRO" : code));
const Errors = z.looseObject({ errors: z.array(Failure) }).catch({ errors: [] });

function faultsOf(isIdempotent = false): FaultTable {
  const broken = isIdempotent ? "transient" : "ambiguous";
  return {
    title: TITLE,
    codesOf: ({ json }) => Errors.parse(json).errors,
    rules: [
      ...byCode("auth", { UNAUTHENTICATED: "Hashnode does not take the token (any more). Make a new one." }),
      ...byCode("setup", { PRO: `${NO_PRO} Its owner can change that on https://hashnode.com/pro.` }),
      ...byCode("rejected", {
        FORBIDDEN: "The account may not do that in this publication. Its owner can change that.",
        NOT_FOUND: "It is not on Hashnode any more. It was deleted there.",
      }),
      ...byCode(broken, { INTERNAL_SERVER_ERROR: "Hashnode had an error of its own." }),
      { status: 413, kind: "rejected", field: "caption", message: "Hashnode takes 100 KB. Shorten it." },
    ],
  };
}

const api = restApi({
  base: API,
  gone: [{ code: "NOT_FOUND" }],
  faults: (_io, { isIdempotent }) => faultsOf(isIdempotent),
});

const ASKED = { method: "POST", path: "/", isIdempotent: true } as const;
const toCall = (query: string, variables: JsonObject) => ({ ...ASKED, json: { query, variables } });
const answering = <T>(it: z.ZodType<T>) => z.looseObject({ data: z.looseObject({ it }) });
const listOf = <T>(node: z.ZodType<T>) => z.looseObject({ edges: z.array(z.looseObject({ node })) });

/** Something of the channel's publication. */
async function read<T>(io: PlatformIo, fields: string, schema: z.ZodType<T>, rules: FaultRule[] = []) {
  const query = `query ($id: ObjectId) { it: publication(id: $id) { ${fields} } }`;
  const call = { ...toCall(query, { id: io.account.platformAccountId }), rules };
  return (await api.ask(io, call, answering(schema))).data.it;
}

const Live = z.object({ id: z.string(), url: WebAddress.nullable().catch(null) });
const Place = z.looseObject({ url: z.url(), fields: z.record(z.string(), z.string()) });

/** What is asked back of a change. */
type Want<T> = { readonly fields: string; readonly schema: z.ZodType<T> };
const POST = { fields: "post { id url }", schema: z.looseObject({ post: Live }) };
const DRAFT = { fields: "draft { id }", schema: z.looseObject({ draft: Live.pick({ id: true }) }) };
const PLACE = { fields: "presignedPost { url fields }", schema: z.looseObject({ presignedPost: Place }) };

/** Hashnode forgets a draft when it becomes an article, which may have been ours. */
const GONE: FaultRule = { code: "NOT_FOUND", kind: "ambiguous", message: "The draft is not there any more." };

/** Only publishing must not be asked for twice. */
async function change<T>(io: PlatformIo, name: string, input: JsonObject, { fields, schema }: Want<T>) {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1).replace("URL", "")}Input`;
  const query = `mutation ($input: ${type}!) { it: ${name}(input: $input) { ${fields} } }`;
  const only = name === "publishDraft" ? { isIdempotent: false, rules: [GONE] } : {};
  return (await api.ask(io, { ...toCall(query, { input }), ...only }, answering(schema))).data.it;
}

const { title, altText, moreMedia, thumbnailUrl, format } = commonMetadata;
const Tag = z.string().regex(/^[a-z0-9-]{1,100}$/i, "must be as in addresses, such as web-development");
const SeriesId = z.string().regex(/^[0-9a-f]{24}$/, "must be the id of a series");
const Address = z.url({ protocol: /^https?$/ }).max(2_000);

/** What an article takes beside its text. */
const Metadata = z.strictObject({
  title: title.unwrap().max(250).describe("Title, max. 250 characters."),
  subtitle: title.describe("Line below the title."),
  tags: z.array(Tag).max(15).optional().describe("Tags, as in addresses: web-development."),
  altText,
  moreMedia: moreMedia.describe("Further pictures."),
  thumbnailUrl: thumbnailUrl.describe("Cover image."),
  format: format.describe("How the caption is read: plain (default), or markdown, as Hashnode has it."),
  series: SeriesId.optional().describe("Id of the series that it belongs to (list_choices)."),
  canonicalUrl: Address.optional().describe("Where the article first appeared."),
  newsletter: z.boolean().optional().describe("Mails it to the subscribers, which cannot be undone."),
});
type Post = PlatformPost<z.infer<typeof Metadata>>;

const TOKEN_PLACE = "On https://hashnode.com/settings/developer, generate a personal access token.";

const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "Personal access token",
  instructions: `${TOKEN_PLACE} The publication must be on Hashnode's Pro plan: its API takes nothing else. The plan is bought for each publication by its owner, and its price is on https://hashnode.com/pro. Your role there must be owner or editor. Articles cannot be deleted through the API.`,
  fields: [secretField("accessToken", "Personal access token", TOKEN_PLACE)],
  renewal: null,
  connect,
};

const Title = z.looseObject({ title: z.string() });
const Publication = Title.extend({ id: z.string(), url: WebAddress.nullish().catch(null) });
const Me = z.looseObject({ publications: listOf(Publication) });

const Person = z.looseObject({ id: z.string() }).nullish().catch(null);
const Member = z.looseObject({ role: z.string().catch(""), user: Person });
const Standing = z.looseObject({
  data: z.looseObject({
    me: Person,
    it: z.looseObject({ author: Person, members: listOf(Member).catch({ edges: [] }) }).nullable(),
  }),
});

/** Who the person is in a publication. It is not told of one that is not on the Pro plan. */
function standingIn(id: string) {
  const members = "members(first: 50) { edges { node { role user { id } } } }";
  const query = `query ($id: ObjectId) { me { id } it: publication(id: $id) { author { id } ${members} } }`;
  return { ...toCall(query, { id }), rules: [{ code: "PRO", kind: "ok" } as const] };
}

/** Why the person cannot publish there; null: nothing is in the way, or Hashnode does not tell their role. */
async function problemIn(asked: Promise<z.infer<typeof Standing>>): Promise<string | null> {
  const told = await asked.catch((error: unknown) => {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  });
  if (told === null) return null;
  const { me, it } = told.data;
  if (it === null) return NO_PRO;
  const own = it.members.edges.find(({ node }) => node.user?.id === (me?.id ?? ""))?.node;
  return own?.role === "CONTRIBUTOR" && it.author?.id !== me?.id ? CONTRIBUTOR : null;
}

/** A channel for each of the person's publications. */
async function connect({ name, secrets }: ConnectInput, io: ConnectIo) {
  const query = "query { it: me { id publications(first: 50) { edges { node { id title url } } } } }";
  const asked = () => api.askWith(io, { secrets }, toCall(query, {}), answering(Me));
  const { publications } = (await naming("accessToken", asked)).data.it;
  const targets = await inOrder(publications.edges, async ({ node }): Promise<Target> => {
    const { id, title: called, url = null } = node;
    const page = { handle: url === null ? null : new URL(url).host, profileUrl: url, avatarUrl: null };
    const problem = await problemIn(api.askWith(io, { secrets }, standingIn(id), Standing));
    const target = { platformAccountId: id, name: name ?? called, ...page, settings: {}, secrets };
    return problem === null ? target : { ...target, problem };
  });
  return { tokens: null, targets };
}

async function inspect(io: PlatformIo): Promise<Inspection> {
  const found = await read(io, "title", Title.nullable(), [{ code: "PRO", kind: "ok" }]);
  if (found === null) return { problem: NO_PRO };
  const standing = api.ask(io, standingIn(io.account.platformAccountId ?? ""), Standing);
  return { name: found.title, problem: await problemIn(standing) };
}

const IMAGES = {
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  maxBytes: 8_000_000,
  maxItems: 21,
} as const;

/** Brings a picture to Hashnode, where no reader sees it yet. Gives its address there. */
async function upload(item: MediaItem, io: PublishIo): Promise<string> {
  const file = await fitPicture(item, IMAGES, io);
  const wanted = { contentType: file.mimeType };
  const { url, fields } = (await change(io, "createImageUploadURL", wanted, PLACE)).presignedPost;
  const multipart = [...Object.entries(fields).map(([name, text]) => ({ name, text })), toPart("file", file)];
  await io.request({ ...UPLOAD_TIMES, method: "POST", url, multipart, isIdempotent: true });
  return `https://cdn.hashnode.com/${fields["key"] ?? ""}`;
}

const escape = markdownEscaper({ starts: "#>+=:-", signs: "\\\\*_~`^|[\\]<>&%$" });

/** Its pictures, then its text, in Markdown. A plain text keeps its lines. */
function bodyOf(post: Post, pictures: readonly string[]): string {
  const { caption, metadata } = post;
  const alts = itemsOf(post).map(({ altText: alt }) => escape(alt ?? "").replaceAll("\n", " "));
  const pieces = alts.map((alt, at) => `![${alt}](${pictures[at]})`);
  pieces.push(metadata.format === "markdown" ? (caption ?? "") : keepLines(escape(caption ?? "")));
  return pieces.filter((one) => one !== "").join("\n\n");
}

/** What may be changed, by our names; null takes away what is not said any more. */
const fieldsOf = ({ metadata }: Post): Readonly<Record<string, JsonObject>> => ({
  title: { title: metadata.title },
  subtitle: { subtitle: metadata.subtitle ?? null },
  tags: { tags: (metadata.tags ?? []).map((slug) => ({ slug: slug.toLowerCase() })) },
  series: { seriesId: metadata.series ?? null },
  canonicalUrl: { originalArticleURL: metadata.canonicalUrl ?? null },
});
const EDITABLE = ["title", "subtitle", "tags", "series", "canonicalUrl"];
const WRITTEN = ["caption", "altText", "format"];

const stepOf = (at: number): string => `upload ${at + 1}`;

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
    ...Object.assign({}, ...Object.values(fieldsOf(post))),
    ...(coverImageURL === null ? {} : { coverImageOptions: { coverImageURL } }),
    publicationId: io.account.platformAccountId,
    contentMarkdown,
    settings: { activateNewsletter },
  };
  const draftId = await repeatableStep<string>(io, {
    step: "draft",
    request: input,
    send: async () => (await change(io, "createDraft", input, DRAFT)).draft.id,
  });
  const find = (since: number) => findArticle(post.metadata.title + contentMarkdown, since, io);
  const { id, url } = await io.effect<z.infer<typeof Live>>({
    step: "publish",
    request: { draftId },
    send: async () => (await change(io, "publishDraft", { draftId }, POST)).post,
    // Answers of the API are up to 25 seconds old.
    reconcile: (context) => reconcileByListing(context, { io, listedAfterMs: 2 * MINUTE, find }),
    live: (done) => ({ platformPostId: done.id, platformUrl: done.url }),
  });
  return { state: "live", platformPostId: id, platformUrl: url };
}

const Article = Live.extend({
  title: z.string().catch(""),
  publishedAt: z.string().catch(""),
  content: z.looseObject({ markdown: z.string() }).catch({ markdown: "" }),
});
const Articles = z.looseObject({ posts: listOf(Article) });

/** The newest article since then with this title and text. */
async function findArticle(sent: string, since: number, io: PlatformIo) {
  const fields = "posts(first: 20) { edges { node { id url title publishedAt content { markdown } } } }";
  const nodes = (await read(io, fields, Articles)).posts.edges.map(({ node }) => node);
  const isIt = (one: z.infer<typeof Article>): boolean =>
    comparable(one.title + one.content.markdown) === comparable(sent);
  const found = nodes.find((one) => !(Date.parse(one.publishedAt) < since) && isIt(one));
  return found === undefined ? null : Live.parse(found);
}

const idOf = idReader("is not the id of an article, so it cannot be found on Hashnode.", /^[0-9a-f]{24}$/);

async function update(post: Post, fields: JsonObject, io: PlatformIo) {
  const { url } = (await change(io, "updatePost", { id: idOf(post), ...fields }, POST)).post;
  return url === null ? {} : { platformUrl: url };
}

function edit(post: Post, changed: readonly string[], io: PublishIo) {
  const all = fieldsOf(post);
  const fields: JsonObject = Object.assign({}, ...changed.map((name) => all[name] ?? {}));
  if (!WRITTEN.some((name) => changed.includes(name))) return update(post, fields, io);
  const pictures = z.array(z.string()).safeParse(itemsOf(post).map((_item, at) => io.resultOf(stepOf(at))));
  if (!pictures.success)
    throw new AppError("conflict", "Where the article's pictures are is not known. Change it on Hashnode.");
  return update(post, { ...fields, contentMarkdown: bodyOf(post, pictures.data) }, io);
}

const Count = z.int().min(0).nullish().catch(null);
const Counted = z.looseObject({ views: Count, reactionCount: Count, responseCount: Count, fans: Count });

async function insights(post: Post, io: PlatformIo): Promise<PostInsights> {
  const query = "query ($id: ID!) { it: post(id: $id) { id views reactionCount responseCount } }";
  const call = toCall(query, { id: idOf(post) });
  const found = (await api.askOrGone(io, call, answering(Counted.nullable())))?.data.it ?? null;
  if (found === null) return { state: "removed", visibility: null, metrics: {} };
  const { views = null, reactionCount: likes = null, responseCount: comments = null } = found;
  return { state: "live", visibility: "public", metrics: { views, likes, comments } };
}

const Series = z.looseObject({ seriesList: listOf(z.looseObject({ id: z.string(), name: z.string() })) });

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
    editPublished: { fields: [...WRITTEN, ...EDITABLE] },
    analytics: { account: ["followers"], post: ["views", "likes", "comments"] },
    reconciles: "list",
  },
  metadata: Metadata,
  connect: [TOKEN],
  choices: { series },
  check: (post) => ({ errors: checkFirst(post, "picture"), warnings: [] }),
  preview: ({ caption, metadata: { format } }) => shownThere(caption, format),
  inspect,
  publish,
  edit,
  setThumbnail: async (post, url, io) => {
    await update(post, { coverImage: await upload(await io.media.item(url), io) }, io);
  },
  insights,
  analytics: async (_range, io) =>
    onlyFollowers(TITLE, (await read(io, "fans: followersCount", Counted)).fans ?? undefined),
});
