import * as z from "zod";
import { type Said, say } from "../../domain/sentences.ts";
import { commonMetadata, fits } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, CheckedAt, PlatformPost } from "../../ports/platform.ts";

export const MAX_DESCRIPTION_CHARS = 800;
export const MAX_PICTURES = 5;

const { title, altText, link, moreMedia, thumbnailUrl } = commonMetadata;

/** What a pin takes beside its description (the caption) and its media. */
export const PinterestMetadata = z.strictObject({
  boardId: z
    .string()
    .regex(/^\d+$/, "must be the number of a board")
    .optional()
    .describe("The board that it is pinned to, from list_choices."),
  board: z
    .string()
    .trim()
    .min(1)
    .max(50)
    .optional()
    .describe("Name of the board, in place of boardId.")
    .meta({ title: "Board by name" }),
  createBoard: z
    .boolean()
    .optional()
    .describe("True: the board is made at the pin's time, public, where the channel has none of the name.")
    .meta({ title: "Make the board if missing" }),
  boardSection: z
    .string()
    .regex(/^\d+$/, "must be the number of a section")
    .optional()
    .describe("A section of the board, from list_choices, which finds them by the board's name or number."),
  title: title.unwrap().max(100).optional().describe("Title of the pin."),
  link: link.describe("Where the pin leads to."),
  altText: altText.unwrap().max(500).optional().describe("What it shows, for people who cannot see it."),
  moreMedia: moreMedia
    .unwrap()
    .max(MAX_PICTURES - 1, fits(MAX_PICTURES))
    .optional()
    .describe("Up to 4 more pictures, shown as a carousel. They have no alternative texts."),
  thumbnailUrl: thumbnailUrl.describe(
    "Cover of a video. Without it, coverSeconds says which moment is shown.",
  ),
  coverSeconds: z
    .int()
    .min(0)
    .max(900)
    .optional()
    .describe("The moment of a video that is its cover, in seconds. Default 1.")
    .meta({ title: "Cover: moment in seconds" }),
});
export type PinterestMetadata = z.infer<typeof PinterestMetadata>;
export type PinterestPost = PlatformPost<PinterestMetadata>;

/** What the schema cannot say. */
export function check(
  { mediaUrl, metadata }: PinterestPost,
  { media }: Pick<CheckedAt, "media">,
): CheckResult {
  const { moreMedia = [], thumbnailUrl, coverSeconds } = metadata;
  const types = [mediaUrl, ...moreMedia.map(({ url }) => url)].map((url) => media.get(url)?.type);
  const errors = checkBoard(metadata);
  if (types.length > 1 && types.includes("video")) errors.push(ONE_FILM);
  if (thumbnailUrl !== undefined && coverSeconds !== undefined)
    errors.push("metadata.coverSeconds: give either thumbnailUrl or coverSeconds.");
  const hasCover = thumbnailUrl !== undefined || coverSeconds !== undefined;
  const warnings =
    types[0] === "image" && hasCover
      ? ["Only a video has a cover: metadata.thumbnailUrl and metadata.coverSeconds are not used."]
      : [];
  return { errors, warnings };
}

function checkBoard({ boardId, board, createBoard, boardSection }: PinterestMetadata): Said[] {
  if (boardId === undefined && board === undefined)
    return [
      say("is missing. Choose a board, or name it in metadata.board.", {
        field: "metadata.boardId",
        next: [{ do: "choose", field: "boardId" }],
      }),
    ];
  if (boardId !== undefined && board !== undefined) return ["metadata.board: give either boardId or board."];
  if (createBoard !== true) return [];
  if (board === undefined)
    return ["metadata.createBoard: needs the name of the board. Give board in place of boardId."];
  return boardSection === undefined
    ? []
    : ["metadata.boardSection: a new board has no sections. Leave it out, or leave createBoard out."];
}

export const ONE_FILM =
  "metadata.moreMedia: a pin shows one video, or up to 5 pictures. Leave the rest out, or pin them separately.";
