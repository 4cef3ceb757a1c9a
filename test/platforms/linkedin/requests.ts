import { Ajv } from "ajv";

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

const ajv = new Ajv({ allErrors: true });

/** Of each POST, by its path. */
export const BODIES = {
  "/rest/posts": ajv.compile(POST),
  "/rest/images": ajv.compile(object({ initializeUploadRequest: object({ owner: AUTHOR }) })),
  "/rest/documents": ajv.compile(object({ initializeUploadRequest: object({ owner: AUTHOR }) })),
  "/rest/videos initializeUpload": ajv.compile(
    object({
      initializeUploadRequest: object({
        owner: AUTHOR,
        fileSizeBytes: { type: "integer", minimum: 1, maximum: 500_000_000 },
        uploadCaptions: { const: false },
        uploadThumbnail: { const: false },
      }),
    }),
  ),
  "/rest/videos finalizeUpload": ajv.compile(
    object({
      finalizeUploadRequest: object({
        video: idOf("video"),
        uploadToken: { type: "string" },
        uploadedPartIds: { type: "array", minItems: 1, items: text(100) },
      }),
    }),
  ),
  patch: ajv.compile(object({ patch: object({ $set: object({ commentary: { type: "string" } }) }) })),
  comment: ajv.compile(
    object({ actor: AUTHOR, object: idOf("share|ugcPost"), message: object({ text: text(1_250) }) }),
  ),
} as const;

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
