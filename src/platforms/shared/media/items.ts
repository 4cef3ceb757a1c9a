/** A picture, video or sound of a post, as its author gives it. */
export interface PostItem {
  readonly url: string;
  /** Null where none was given. */
  readonly altText: string | null;
}

export interface WithItems {
  /** "" for a post that has none. */
  readonly mediaUrl: string;
  readonly metadata: {
    readonly altText?: string | undefined;
    readonly moreMedia?:
      readonly { readonly url: string; readonly altText?: string | undefined }[] | undefined;
  };
}

/** The media of a post in their order: `mediaUrl`, which `altText` describes, then `moreMedia`. */
export function itemsOf({ mediaUrl, metadata }: WithItems): PostItem[] {
  const first = mediaUrl === "" ? [] : [{ url: mediaUrl, altText: metadata.altText ?? null }];
  const more = (metadata.moreMedia ?? []).map(({ url, altText }) => ({ url, altText: altText ?? null }));
  return [...first, ...more];
}
