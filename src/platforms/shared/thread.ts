import * as z from "zod";
import { measureText } from "../../domain/posts/caption.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { itemsOf, type PostItem, type WithItems } from "./media.ts";

/** One post of a thread; a post without a thread is one part. */
export interface Part {
  readonly text: string;
  readonly media: readonly PostItem[];
}

interface WithThread extends WithItems {
  readonly caption: string | null;
  readonly metadata: WithItems["metadata"] & {
    readonly thread?:
      | readonly {
          readonly caption: string;
          readonly mediaUrl?: string | undefined;
          readonly altText?: string | undefined;
        }[]
      | undefined;
  };
}

/** The post and those that follow it. `toText`: how the platform writes a text. */
export function partsOf(post: WithThread, toText = (text: string): string => text): [Part, ...Part[]] {
  const later = (post.metadata.thread ?? []).map(({ caption, mediaUrl = "", altText }) => ({
    text: toText(caption),
    media: mediaUrl === "" ? [] : [{ url: mediaUrl, altText: altText ?? null }],
  }));
  return [{ text: toText(post.caption ?? ""), media: itemsOf(post) }, ...later];
}

/** What is sent of a part: its place in the thread, from 0, and what it answers. */
export interface InThread {
  readonly at: number;
  readonly replyTo: string | null;
}

/** The first part, which everybody sees, then the others, each a reply to the one before. */
export async function sendThread<R extends { readonly id: string }>(
  [first, ...later]: readonly [Part, ...Part[]],
  send: (part: Part, at: InThread) => Promise<R>,
  io: PublishIo,
): Promise<R> {
  const head = await send(first, { at: 0, replyTo: null });
  if (later.length > 0) {
    await io.followUp("The rest of the thread", async () => {
      let replyTo = head.id;
      for (const [index, part] of later.entries())
        replyTo = (await send(part, { at: index + 1, replyTo })).id;
    });
  }
  return head;
}

const Sent = z.object({ id: z.string() });

/** What the parts that followed were sent as, the last one first; those that never went out are left out. */
export function laterIds(
  { metadata }: Pick<WithThread, "metadata">,
  io: Pick<PublishIo, "resultOf">,
  stepOf: (at: number) => string,
): string[] {
  const all = (metadata.thread ?? []).map(
    (_part, at) => Sent.safeParse(io.resultOf(stepOf(at + 1))).data?.id,
  );
  return all.filter((id) => id !== undefined).toReversed();
}

/** The sentence about a text that is too long for its server; none where it is not. */
export function tooLong(field: string, length: number, max: number, beside = ""): string[] {
  if (length <= max) return [];
  return [
    `${field}: has ${length} characters${beside}, and this server takes at most ${max}. Shorten it by ${length - max}.`,
  ];
}

type AltTextHolder = { readonly altText?: string | undefined };

/** What is wrong with the alternative texts of a post and its thread. */
export function checkAltTexts(
  metadata: AltTextHolder & {
    readonly moreMedia?: readonly AltTextHolder[] | undefined;
    readonly thread?: readonly AltTextHolder[] | undefined;
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
