import * as z from "zod";
import { MediaRole } from "../domain/posts/common-metadata.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { AnyPlatform } from "../ports/platform.ts";

/** An address somewhere in a post. */
export interface MediaPlace {
  readonly field: string;
  readonly url: string;
  /** Shown as media of a post, and so held to the platform's limits. */
  readonly isShown: boolean;
  /** One of the items of the post itself; the others belong to the posts of its thread. */
  readonly isItem: boolean;
  /** Where its alt text belongs and what stands there; null where there is no place for one. */
  readonly alt: AltText | null;
}

interface AltText {
  readonly field: string;
  readonly text: unknown;
}

/** Every address of a post's content, also empty ones; the first is mediaUrl's. */
export function placesOf(
  { metadata: schema }: Pick<AnyPlatform, "metadata">,
  content: { readonly mediaUrl: string; readonly metadata: Metadata | null },
): MediaPlace[] {
  const metadata = content.metadata ?? {};
  const alt = altTextIn(schema, "metadata", metadata);
  const places: MediaPlace[] = [
    { field: "mediaUrl", url: content.mediaUrl, isShown: true, isItem: true, alt },
  ];
  visit({ schema, field: "metadata", value: metadata, alt: null }, ({ field, url, role, alt: own }) => {
    places.push({ field, url, isShown: role !== "thumbnail", isItem: role === "item", alt: own });
    return url;
  });
  return places;
}

/** The metadata with each of its media addresses replaced. */
export function replaceAddresses(
  { metadata: schema }: Pick<AnyPlatform, "metadata">,
  metadata: Metadata,
  replace: (field: string, url: string) => string,
): Metadata {
  return visit({ schema, field: "metadata", value: metadata, alt: null }, ({ field, url }) =>
    replace(field, url),
  ) as Metadata;
}

interface Address {
  readonly field: string;
  readonly url: string;
  readonly role: z.infer<typeof MediaRole>;
  readonly alt: AltText | null;
}

interface Visited {
  readonly schema: unknown;
  readonly field: string;
  readonly value: unknown;
  readonly alt: AltText | null;
}

/** Walks a value along its schema, whose own `.meta({ media })` says where an address of media stands. */
function visit({ schema, field, value, alt }: Visited, replace: (address: Address) => string): unknown {
  if (typeof value === "string") {
    const role = roleOf(schema);
    return role === undefined ? value : replace({ field, url: value, role, alt });
  }
  const type = unwrap(schema);
  if (type instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item: unknown, at) =>
      visit({ schema: type.element, field: `${field}[${at}]`, value: item, alt: null }, replace),
    );
  }
  if (type instanceof z.ZodObject && typeof value === "object" && value !== null) {
    const beside = altTextIn(type, field, value);
    const parts = Object.entries(value).map(([name, part]) => [
      name,
      visit({ schema: type.shape[name], field: `${field}.${name}`, value: part, alt: beside }, replace),
    ]);
    return Object.fromEntries(parts);
  }
  return value;
}

function altTextIn(schema: z.ZodObject, field: string, value: object): AltText | null {
  if (!Object.hasOwn(schema.shape, "altText")) return null;
  return { field: `${field}.altText`, text: "altText" in value ? value.altText : undefined };
}

/** It may be told before or after "may be left out". */
function roleOf(schema: unknown): Address["role"] | undefined {
  const own = schema instanceof z.ZodType ? MediaRole.safeParse(schema.meta()?.["media"]).data : undefined;
  return own ?? (isWrapped(schema) ? roleOf(schema.unwrap()) : undefined);
}

/** What stands behind "may be left out", "may be null" and defaults. */
function unwrap(schema: unknown): unknown {
  return isWrapped(schema) ? unwrap(schema.unwrap()) : schema;
}

function isWrapped(schema: unknown): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
}
