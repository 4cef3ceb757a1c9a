import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { textOfHtml } from "../../domain/text/html-text.ts";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { CheckResult, Choice, Inspection, PlatformPost, PostInsights } from "../../ports/platform.ts";
import { definePlatform, type PublishOutcome } from "../../ports/platform.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { WebAddress } from "../../ports/platform-values.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { oneChannel, secretField, textField } from "../shared/connect.ts";
import { byCode, byStatus, type FaultTable } from "../shared/faults.ts";
import { idReader } from "../shared/live.ts";
import { escapeHtml, htmlOf, readText } from "../shared/markdown.ts";
import { shownThere } from "../shared/shown.ts";
import { checkFirst, fitPicture, inOrder, itemsOf, openAll, toPart } from "../shared/media.ts";
import { repeatableStep } from "../shared/reconcile.ts";
import { restApi } from "../shared/rest-api.ts";
import { explaining, requireServer, serverOf } from "../shared/servers.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";

const TITLE = "Listmonk";
const { ask, askOrGone, askWith } = restApi({
  base: serverOf,
  below: "/api",
  sign: ({ username = "", token = "" }) => ({ headers: { authorization: `token ${username}:${token}` } }),
  faults: () => FAULTS,
  // A campaign that is gone is a bad request to it.
  gone: [{ status: [400, 404] }],
});

const Refusal = z.looseObject({ message: z.string() }).catch({ message: "" });

const FAULTS: FaultTable = {
  title: TITLE,
  // A wrong token and a missing permission have the same status.
  codesOf: ({ json }) => (/^invalid (?:api|session)/i.test(Refusal.parse(json).message) ? ["unknown"] : []),
  rules: [
    ...byCode("auth", { unknown: "Listmonk does not know the API user or its token (any more)." }),
    ...byStatus("rejected", { "403": "The API user's role does not allow that. Add the permission." }),
  ],
};

const Count = z.int().min(0).nullish().catch(null);

/** All that it answers is in `data`. */
const answering = <T>(data: z.ZodType<T>) => z.looseObject({ data });
const pageOf = <T>(one: z.ZodType<T>) => answering(z.looseObject({ results: z.array(one) }));

const Named = z.looseObject({ id: z.int(), name: z.string().catch("") });
const Lists = pageOf(Named);
const LISTS = { path: "/lists", query: { per_page: "all" } };

const Campaign = z.looseObject({
  id: z.int(),
  name: z.string().catch(""),
  uuid: z.string().catch(""),
  status: z.string(),
  archive: z.boolean().catch(false),
  lists: z.array(Named).nullish().catch(null),
  views: Count,
  clicks: Count,
  sent: Count,
});
type Campaign = z.infer<typeof Campaign>;

const { title, tags, altText, moreMedia } = commonMetadata;
const Id = z.string().regex(/^[1-9]\d{0,9}$/, "must be a number that the platform tells");
const Ids = z.array(Id).min(1).max(50);
const Format = z.enum(["plain", "markdown", "html"]);

/** What a campaign takes beside its text. */
const Metadata = z.strictObject({
  title: title.unwrap().describe("Subject of the mail."),
  format: Format.optional().describe("How the caption is read. Default: plain, where {{ }} is text too."),
  lists: Ids.optional().describe("Numbers of lists (list_choices). Default: the channel's."),
  template: Id.optional().describe("Number of a template (list_choices). Default: the site's own."),
  fromEmail: title
    .describe("Sender: News <news@a.example>. Default: the site's own.")
    .meta({ title: "Sender" }),
  tags: tags.describe("Tags of the campaign, for those who manage it."),
  archive: z.boolean().optional().describe("True: it stands in the site's public archive too."),
  altText,
  moreMedia: moreMedia.describe("Further pictures."),
});
type Post = PlatformPost<z.infer<typeof Metadata>>;

const SENT = "The mail goes to all subscribers of the lists at its time. It cannot be taken back.";

function check(post: Post): CheckResult {
  const errors = checkFirst(post, "picture");
  if (post.mediaUrl === "" && (post.caption ?? "").trim() === "")
    errors.push("caption: is empty. Write some text, or give a picture.");
  return { errors, warnings: [SENT] };
}

const PERMISSIONS =
  "campaigns:get, campaigns:manage, campaigns:send, media:manage, templates:get, and the lists";
const USER_PLACE = `In Listmonk, under Admin, Users, make a user of the type API. Its role needs ${PERMISSIONS}.`;
const REFUSED = { title: TITLE, secret: { field: "token", help: USER_PLACE } };

const TOKEN: SecretsWay = {
  kind: "secrets",
  name: "token",
  label: "API user",
  instructions: `${USER_PLACE} ${SENT} Connect once for each set of lists.`,
  instance: "required",
  place: "/admin/users",
  fields: [
    textField("username", "User name", USER_PLACE),
    secretField("token", "Token", "Listmonk shows it once, when the user is made."),
    textField("lists", "Lists", "Numbers of the lists that get the mails, apart by commas, as under Lists."),
  ],
  renewal: null,
  connect,
};

async function connect({ instanceUrl, secrets, name }: ConnectInput, io: ConnectIo): Promise<Connected> {
  const server = requireServer(instanceUrl, io, { title: TITLE, example: "https://mail.example" });
  const { data } = await explaining(server, REFUSED, () => askWith(io, { server, secrets }, LISTS, Lists));
  const wanted = [...new Set((secrets["lists"] ?? "").split(",").map((one) => Number(one.trim())))];
  const found = data.results.filter(({ id }) => wanted.includes(id));
  const known = data.results.map(({ id, name: called }) => `${id} (${called})`).join(", ");
  if (found.length < wanted.length)
    throw new AppError("invalid", `lists: names one that is not there. The API user sees these: ${known}.`);
  return oneChannel({
    platformAccountId: wanted.toSorted((a, b) => a - b).join(","),
    idServer: server,
    name: name ?? found.map(({ name: called }) => called).join(", "),
    handle: new URL(server).host,
    profileUrl: server,
    settings: { instanceUrl: server, lists: wanted },
    secrets,
  });
}

const listsOf = ({ account }: Pick<PlatformIo, "account">): number[] =>
  z.array(z.int()).catch([]).parse(account.settings["lists"]);

async function inspect(io: PlatformIo): Promise<Inspection> {
  const { data } = await ask(io, LISTS, Lists);
  const isWhole = listsOf(io).every((id) => data.results.some((list) => list.id === id));
  return { problem: isWhole ? null : "A list was deleted, or the API user may not use it any more." };
}

const IMAGES = {
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png", "image/gif"],
  maxBytes: 10_000_000,
  maxItems: 21,
} as const;

const Uploaded = answering(z.looseObject({ url: WebAddress }));
async function upload(item: MediaItem, io: PublishIo): Promise<string> {
  const multipart = [toPart("file", await fitPicture(item, IMAGES, io))];
  return (await ask(io, { method: "POST", path: "/media", multipart, ...UPLOAD_TIMES }, Uploaded)).data.url;
}

/** What HTML and Listmonk's templates read becomes text. */
const plain = (text: string): string => escapeHtml(text).replaceAll("{", "&#123;");

function contentOf(post: Post, pictures: readonly string[]): JsonObject {
  const { title: subject, format = "plain" } = post.metadata;
  const [text, isPlain] = [post.caption ?? "", format === "plain"];
  const alts = itemsOf(post).map(({ altText: alt }) => plain(alt ?? ""));
  const shown = alts.map((alt, at) => `<p><img src="${plain(pictures[at] ?? "")}" alt="${alt}"></p>`);
  return {
    subject: isPlain ? subject.replaceAll("{{", '{{ "{{" }}') : subject,
    content_type: isPlain ? "html" : format,
    body: [...shown, isPlain ? htmlOf(readText(text, "plain"), { text: plain }) : text].join("\n\n"),
  };
}

/** Pictures and a draft, which no subscriber sees; then the draft is started, which cannot be taken back. */
async function publish(post: Post, io: PublishIo): Promise<PublishOutcome> {
  const pictures = await inOrder(await openAll(itemsOf(post), io), (item, at) => {
    const request = { url: item.url };
    return repeatableStep(io, { step: `upload ${at + 1}`, request, send: () => upload(item, io) });
  });
  const { title: called, lists, template, fromEmail, tags: labels = [], archive = false } = post.metadata;
  const about = { name: `${called} ${nameOf(post)}`, type: "regular", tags: labels, archive };
  const request = {
    ...contentOf(post, pictures),
    ...about,
    lists: lists?.map(Number) ?? listsOf(io),
    ...(template === undefined ? {} : { template_id: Number(template) }),
    ...(fromEmail === undefined ? {} : { from_email: fromEmail }),
  };
  const send = () => makeDraft(request, nameOf(post), io);
  const id = await repeatableStep<number>(io, { step: "draft", request, send });
  const live = await io.effect({
    step: "start",
    request: { id },
    send: async () => {
      const found = await requireCampaign(id, io);
      const call = { method: "PUT", path: `${pathOf(id)}/status`, json: { status: "running" } } as const;
      if (!isStarted(found)) await ask(io, call, answering(Campaign));
      return liveAt(found, io);
    },
    // A campaign is started once: what is asked for again changes nothing.
    reconcile: async () => {
      const found = await requireCampaign(id, io);
      return isStarted(found) ? { outcome: "done", result: liveAt(found, io) } : { outcome: "send_again" };
    },
    live: (at) => at,
  });
  return { state: "live", ...live };
}

type Draft = JsonObject & { lists: number[] };

/** What the name of its campaign ends in, by which it is found again. */
const nameOf = ({ id }: Post): string => `(${id.replaceAll("_", "")})`;

/** Takes the draft that an earlier try left. What was started already is never made again. */
async function makeDraft(json: Draft, own: string, io: PlatformIo): Promise<number> {
  const query = { query: own.slice(1, -1), no_body: true };
  const { data } = await ask(io, { path: "/campaigns", query }, pageOf(Campaign));
  const found = data.results.find(({ name }) => name.endsWith(own));
  if (found && isStarted(found)) return found.id;
  const [method, path] = found ? (["PUT", pathOf(found.id)] as const) : (["POST", "/campaigns"] as const);
  const { id, lists } = (await ask(io, { method, path, json }, answering(Campaign))).data;
  // Listmonk drops those that the user may not use, without a word.
  const lost = lists ? json.lists.filter((one) => !lists.some((list) => list.id === one)) : [];
  if (lost.length === 0) return id;
  throw new PlatformFault("rejected", `metadata.lists: the API user may not use ${lost.join(", ")}.`);
}

const pathOf = (id: number | string): string => `/campaigns/${id}`;
const find = (id: number | string, io: PlatformIo) =>
  askOrGone(io, { path: pathOf(id), query: { no_body: true } }, answering(Campaign));

async function requireCampaign(id: number, io: PlatformIo): Promise<Campaign> {
  const found = await find(id, io);
  if (found !== null) return found.data;
  throw new PlatformFault("rejected", "The campaign was deleted in Listmonk. Send the post again.");
}

/** Paused and cancelled ones have been on their way too. */
const isStarted = ({ status }: Campaign): boolean => status !== "draft" && status !== "scheduled";

/** A mail has no address of its own but in the site's archive. */
function liveAt({ id, uuid, archive }: Campaign, io: PlatformIo) {
  const platformUrl = archive && uuid !== "" ? `${serverOf(io)}/archive/${uuid}` : null;
  return { platformPostId: String(id), platformUrl };
}

const idOf = idReader("is not the number of a campaign, so it cannot be found in Listmonk.", /^\d+$/);

/** `reach` is how many mails went out. */
async function insights(post: Post, io: PlatformIo): Promise<PostInsights> {
  const found = await find(idOf(post), io);
  if (found === null) return { state: "removed", visibility: null, metrics: {} };
  const { views = null, clicks = null, sent: reach = null } = found.data;
  const state = isStarted(found.data) ? "live" : "private";
  return { state, visibility: null, metrics: { views, clicks, reach } };
}

const Template = Named.extend({ type: z.string().catch("campaign") });

function choicesOf(all: readonly z.infer<typeof Named>[], search: string): Choice[] {
  const choices = all.map(({ id, name }) => ({ value: String(id), label: name }));
  return choices.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
}

/** Campaigns of a Listmonk site: mails to the subscribers of its lists. */
export default definePlatform({
  name: "listmonk",
  title: TITLE,
  docs: "https://listmonk.app/docs/apis/campaigns",
  capabilities: {
    media: { required: false, maxItems: IMAGES.maxItems, accepts: [IMAGES] },
    caption: { maxLength: 100_000, unit: "characters" },
    analytics: { account: [], post: ["views", "clicks", "reach"] },
    reconciles: "list",
  },
  metadata: Metadata,
  connect: [TOKEN],
  choices: {
    lists: async (search, io) => choicesOf((await ask(io, LISTS, Lists)).data.results, search),
    template: async (search, io) => {
      const call = { path: "/templates", query: { no_body: true } };
      const { data } = await ask(io, call, answering(z.array(Template)));
      return choicesOf(
        data.filter(({ type }) => type === "campaign"),
        search,
      );
    },
  },
  check,
  preview: ({ caption, metadata: { format } }) =>
    format === "html" ? { body: textOfHtml(caption ?? "") } : shownThere(caption, format),
  inspect,
  publish,
  insights,
});
