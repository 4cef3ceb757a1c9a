import type { Target } from "../../domain/drafts/draft.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { findAccount } from "../../channels/accounts/accounts.ts";
import type { CallContext } from "../../context.ts";
import { type MediaPlace, placesOf, replaceAddresses, COMMON } from "../../files/media-places.ts";
import { findPlatform } from "../../channels/platform-io/set-up.ts";

/* Where a draft names media: what all its channels share, and what each has of its own. */

/** Who knows which fields hold addresses of media. */
export type Schemas = readonly Pick<AnyPlatform, "metadata">[];

/** Media and fields of a draft, or of one of its targets. */
export interface PartContent {
  readonly mediaUrl: string;
  readonly metadata: Metadata | null;
}

export interface DraftPart {
  readonly schemas: Schemas;
  /** What its fields' names begin with. */
  readonly at: string;
  readonly own: PartContent;
}

interface Whole extends PartContent {
  readonly targets: readonly Target[];
}

/** Shared fields are those that all platforms have, and those that one of the channels knows. */
export async function sharedSchemas(call: CallContext, targets: readonly Target[]): Promise<Schemas> {
  const platforms = await Promise.all(targets.map((target) => platformOf(call, target)));
  return [{ metadata: COMMON }, ...new Set(platforms)];
}

async function platformOf({ ctx, caller }: CallContext, { accountId }: Target): Promise<AnyPlatform> {
  return findPlatform(ctx, (await findAccount(ctx, caller, accountId)).provider);
}

/** The shared part, then one a target. */
export async function partsOf(call: CallContext, content: Whole): Promise<readonly DraftPart[]> {
  const targets = await Promise.all(
    content.targets.map(async (target, at) => ({
      schemas: [await platformOf(call, target)],
      at: `targets[${at}].`,
      own: { mediaUrl: target.mediaUrl ?? "", metadata: target.metadata },
    })),
  );
  return [{ schemas: await sharedSchemas(call, content.targets), at: "", own: content }, ...targets];
}

/** Every address in it, empty ones too, each field once. */
export function placesIn({ schemas, at, own }: DraftPart): Pick<MediaPlace, "field" | "url">[] {
  const places = new Map<string, string>();
  for (const schema of schemas)
    for (const { field, url } of placesOf(schema, own)) places.set(`${at}${field}`, url);
  return [...places].map(([field, url]) => ({ field, url }));
}

/** With other addresses in their places. */
export function replaceIn(
  schemas: Schemas,
  own: PartContent,
  urls: ReadonlyMap<string, string>,
): PartContent {
  const other = (url: string): string => urls.get(url) ?? url;
  const metadata = schemas.reduce<Metadata | null>(
    (before, schema) =>
      before === null ? null : replaceAddresses(schema, before, (_field, url) => other(url)),
    own.metadata,
  );
  return { mediaUrl: other(own.mediaUrl), metadata };
}

/** The whole content with other addresses. */
export async function replaceAll<T extends Whole>(
  call: CallContext,
  content: T,
  urls: ReadonlyMap<string, string>,
): Promise<T> {
  const [shared, ...own] = await partsOf(call, content);
  const targets = content.targets.map((target, at) => {
    const part = own[at];
    if (part === undefined) return target;
    const { mediaUrl, metadata } = replaceIn(part.schemas, part.own, urls);
    return { ...target, mediaUrl: target.mediaUrl === null ? null : mediaUrl, metadata };
  });
  return {
    ...content,
    ...(shared === undefined ? {} : replaceIn(shared.schemas, shared.own, urls)),
    targets,
  };
}
