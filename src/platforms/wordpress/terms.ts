import * as z from "zod";
import type { Choice } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { textOfHtml } from "../shared/text/html-text.ts";
import { ask } from "./api.ts";
import type { WordpressPost } from "./metadata.ts";

const Term = z.looseObject({ id: z.int(), name: z.string() });
const Terms = z.array(Term);

/** What is there already is told as an error that has its number. */
const Tag = z.union([
  z.looseObject({ id: z.int() }).transform(({ id }) => id),
  z.looseObject({ data: z.looseObject({ term_id: z.int() }) }).transform(({ data }) => data.term_id),
]);

/** Numbers of the categories and tags that a post is under; tags that are new are made. */
export type Filing = { readonly categories?: number[]; readonly tags?: number[] };

export async function fileUnder({ metadata }: WordpressPost, io: PlatformIo): Promise<Filing> {
  const { categories, tags } = metadata;
  return {
    ...(categories === undefined ? {} : { categories: await knownOf(categories.map(Number), io) }),
    ...(tags === undefined ? {} : { tags: await tagsOf(tags, io) }),
  };
}

/** WordPress drops the numbers that it does not know without a word. */
async function knownOf(ids: readonly number[], io: PlatformIo): Promise<number[]> {
  if (ids.length === 0) return [];
  const query = { include: ids.join(","), per_page: 100, _fields: "id,name" };
  const known = await ask(io, { method: "GET", path: "/wp/v2/categories", query }, Terms);
  const missing = ids.filter((id) => !known.some((term) => term.id === id));
  if (missing.length === 0) return [...new Set(ids)];
  throw new PlatformFault(
    "rejected",
    `the site has no category ${missing.join(", ")}. Choose among those that it has, then send the post again.`,
    { field: "metadata.categories" },
  );
}

async function tagsOf(names: readonly string[], io: PlatformIo): Promise<number[]> {
  const ids = new Set<number>();
  for (const name of names) ids.add(await tagOf(name, io));
  return [...ids];
}

function tagOf(name: string, io: PlatformIo): Promise<number> {
  const call = {
    method: "POST",
    path: "/wp/v2/tags",
    query: { _fields: "id" },
    json: { name },
    isIdempotent: true,
  } as const;
  return ask(io, call, Tag);
}

async function search(what: "categories" | "tags", text: string, io: PlatformIo): Promise<Choice[]> {
  const query = {
    per_page: 100,
    orderby: "count",
    order: "desc",
    _fields: "id,name",
    search: text === "" ? null : text,
  };
  const found = await ask(io, { method: "GET", path: `/wp/v2/${what}`, query }, Terms);
  return found.map(({ id, name }) => {
    const label = textOfHtml(name);
    return { value: what === "tags" ? label : String(id), label };
  });
}

export const CHOICES = {
  categories: (text: string, io: PlatformIo) => search("categories", text, io),
  tags: (text: string, io: PlatformIo) => search("tags", text, io),
};
