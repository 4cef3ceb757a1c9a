import type { Metadata } from "./post.ts";

interface Texts {
  readonly caption?: string | null | undefined;
  readonly metadata?: Metadata | null | undefined;
}

/** A post's texts, each written anew: caption, those of the thread, and the named fields. What is not there stays so. */
export function mapTexts<T extends Texts>(
  texts: T,
  fields: readonly string[],
  write: (text: string) => string,
): T {
  const change = (value: unknown): unknown => (typeof value === "string" ? write(value) : value);
  const { caption, metadata } = texts;
  return {
    ...texts,
    ...(caption === undefined ? {} : { caption: change(caption) }),
    ...(metadata === undefined || metadata === null ? {} : { metadata: mapFields(metadata, fields, change) }),
  };
}

function mapFields(
  metadata: Metadata,
  fields: readonly string[],
  change: (value: unknown) => unknown,
): unknown {
  const { thread } = metadata;
  const present = fields.filter((field) => Object.hasOwn(metadata, field));
  return {
    ...metadata,
    ...Object.fromEntries(present.map((field) => [field, change(metadata[field])])),
    ...(Array.isArray(thread) ? { thread: thread.map((part) => mapPart(part, change)) } : {}),
  };
}

function mapPart(part: unknown, change: (value: unknown) => unknown): unknown {
  const isPart = typeof part === "object" && part !== null && "caption" in part;
  return isPart ? { ...part, caption: change(part.caption) } : part;
}
