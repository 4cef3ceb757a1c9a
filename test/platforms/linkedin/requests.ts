import { describedBy } from "../../support/described.ts";

/*
 * What LinkedIn's reference allows in each request (learn.microsoft.com: posts-api, images-api, videos-api,
 * documents-api, comments-api). There is no machine-readable description.
 */

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength });
const idOf = (kind: string) => ({ type: "string", pattern: `^urn:li:(${kind}):[\\w-]+$` });
const AUTHOR = idOf("person|organization");

const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});

const MEDIA = object({ id: idOf("image|video"), title: text(400), altText: text(4_086) }, ["id"]);
/** Its title is shown above its pages. */
const DOCUMENT = object({ id: idOf("document"), title: text(400) });
const IMAGE = object({ id: idOf("image"), altText: text(4_086) }, ["id"]);
const ARTICLE = object(
  { source: text(2_000), title: text(400), description: text(4_086), thumbnail: idOf("image") },
  ["source", "title"],
);

const POST = object(
  {
    author: AUTHOR,
    commentary: { type: "string", maxLength: 6_000 },
    visibility: { enum: ["PUBLIC", "CONNECTIONS", "LOGGED_IN"] },
    distribution: object({
      feedDistribution: { const: "MAIN_FEED" },
      targetEntities: { type: "array", maxItems: 0 },
      thirdPartyDistributionChannels: { type: "array", maxItems: 0 },
    }),
    content: {
      oneOf: [
        object({ media: MEDIA }),
        object({ media: DOCUMENT }),
        object({
          multiImage: object({ images: { type: "array", minItems: 2, maxItems: 20, items: IMAGE } }),
        }),
        object({ article: ARTICLE }),
        object({
          poll: object({
            question: text(140),
            options: { type: "array", minItems: 2, maxItems: 4, items: object({ text: text(30) }) },
            settings: object({
              voteSelectionType: { const: "SINGLE_VOTE" },
              duration: { enum: ["ONE_DAY", "THREE_DAYS", "SEVEN_DAYS", "FOURTEEN_DAYS"] },
            }),
          }),
        }),
      ],
    },
    lifecycleState: { const: "PUBLISHED" },
    isReshareDisabledByAuthor: { type: "boolean" },
  },
  ["author", "commentary", "visibility", "distribution", "lifecycleState", "isReshareDisabledByAuthor"],
);

const FILE = object({ initializeUploadRequest: object({ owner: AUTHOR }) });
const VIDEO = object({
  initializeUploadRequest: object({
    owner: AUTHOR,
    fileSizeBytes: { type: "integer", minimum: 1, maximum: 500_000_000 },
    uploadCaptions: { const: false },
    uploadThumbnail: { const: false },
  }),
});
const FINALIZED = object({
  finalizeUploadRequest: object({
    video: idOf("video"),
    uploadToken: { type: "string" },
    uploadedPartIds: { type: "array", minItems: 1, items: text(100) },
  }),
});
const PATCH = object({ patch: object({ $set: object({ commentary: { type: "string" } }) }) });
const COMMENT = object({
  actor: AUTHOR,
  object: idOf("share|ugcPost"),
  message: object({ text: text(1_250) }),
});

const words = { type: "string" };
const one = (...values: string[]) => ({ enum: values });
const list = (pattern: string) => ({ type: "string", pattern: `^List\\(${pattern}\\)$` });
const asking = (query: object, required = Object.keys(query)) => ({ query, required });
const begun = asking({ action: one("initializeUpload") });
const COUNTED = ["IMPRESSION", "MEMBERS_REACHED", "RESHARE", "REACTION", "COMMENT"];

/** Below the API's address; what stands for an {urn} is encoded. */
export const read = describedBy({
  source: "https://learn.microsoft.com/linkedin",
  ids: { urn: "urn%3Ali%3A[\\w%-]+" },
  operations: {
    "GET /v2/userinfo": {},
    "GET /v2/me": {},
    "POST /rest/images": { ...begun, body: FILE },
    "GET /rest/images/{urn}": {},
    "POST /rest/documents": { ...begun, body: FILE },
    "GET /rest/documents/{urn}": {},
    "POST /rest/videos": {
      ...asking({ action: one("initializeUpload", "finalizeUpload") }),
      body: { oneOf: [VIDEO, FINALIZED] },
    },
    "GET /rest/videos/{urn}": {},
    "POST /rest/posts": { body: POST },
    "GET /rest/posts": asking({
      ...{ q: one("author"), author: AUTHOR },
      ...{ count: { type: "integer", maximum: 100 }, sortBy: one("CREATED", "LAST_MODIFIED") },
    }),
    "GET /rest/posts/{urn}": {},
    "POST /rest/posts/{urn}": { body: PATCH },
    "DELETE /rest/posts/{urn}": {},
    "GET /rest/socialActions/{urn}/comments": {},
    "POST /rest/socialActions/{urn}/comments": { body: COMMENT },
    "GET /rest/socialMetadata/{urn}": {},
    "GET /rest/organizations": asking({ q: one("vanityName"), vanityName: words, ids: list("[\\d,]+") }, []),
    "GET /rest/memberCreatorPostAnalytics": asking({
      ...{ q: one("entity"), entity: words },
      ...{ queryType: one(...COUNTED), aggregation: one("TOTAL") },
    }),
    "GET /rest/organizationAcls": asking(
      {
        ...{ q: one("roleAssignee"), state: one("APPROVED"), role: words },
        ...{ start: { type: "integer" }, count: { type: "integer" } },
      },
      ["q"],
    ),
    "GET /rest/networkSizes/{urn}": asking({ edgeType: one("COMPANY_FOLLOWED_BY_MEMBER") }),
    "GET /rest/organizationalEntityShareStatistics": asking(
      {
        ...{ q: one("organizationalEntity"), organizationalEntity: AUTHOR },
        ...{ shares: list(".+"), ugcPosts: list(".+"), timeIntervals: words },
      },
      ["q", "organizationalEntity"],
    ),
  },
});

/**
 * A text as readers see it. Null where a character that is markup stands unescaped: LinkedIn cuts the post there.
 */
export function readLittleText(text: string): string | null {
  // A mention: its name is shown, where the URN is that of a person or an organization.
  const commentary = text.replace(
    /@\[((?:[^\\[\]]|\\.)*)\]\(urn:li:(?:organization|person):[\w-]+\)/g,
    (_all, name: string) => `\\@${name}`,
  );
  const plain = commentary.replace(/\\[\\|{}@[\]()<>#*_~]/g, "");
  return /[\\|{}@[\]()<>*_~]/.test(plain) ? null : commentary.replace(/\\([\\|{}@[\]()<>#*_~])/g, "$1");
}
