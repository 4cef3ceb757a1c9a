import { measureText } from "../../../domain/posts/caption.ts";

/** The sentence about a text that is too long for its server; none where it is not. */
export function tooLong(field: string, length: number, max: number, beside = ""): string[] {
  if (length <= max) return [];
  return [
    `${field}: has ${length} characters${beside}, and this server takes at most ${max}. Shorten it by ${length - max}.`,
  ];
}

type Described = { readonly altText?: string | undefined };

/** What is wrong with the alternative texts of a post and its thread. */
export function checkAltTexts(
  metadata: Described & {
    readonly moreMedia?: readonly Described[] | undefined;
    readonly thread?: readonly Described[] | undefined;
  },
  max: number,
): string[] {
  const { altText, moreMedia = [], thread = [] } = metadata;
  const all = [
    ["metadata.altText", altText],
    ...moreMedia.map((item, at) => [`metadata.moreMedia[${at}].altText`, item.altText]),
    ...thread.map((part, at) => [`metadata.thread[${at}].altText`, part.altText]),
  ] as const;
  return all.flatMap(([field = "", text = ""]) => tooLong(field, measureText(text, "characters"), max));
}
