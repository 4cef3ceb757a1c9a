import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Metadata } from "../../domain/posts/post.ts";
import { quote } from "../../domain/time.ts";
import { parseJson } from "../json.ts";

interface Given {
  readonly title?: string;
  readonly link?: string;
  readonly alt: readonly string[];
  readonly set: readonly string[];
}

/** The media of a post, and its platform's fields, as `schedule_post` takes them. Throws `invalid`. */
export function readMetadata(
  { title, link, alt, set }: Given,
  [mediaUrl, ...more]: readonly string[],
): { mediaUrl?: string; metadata?: Metadata } {
  const count = mediaUrl === undefined ? 0 : more.length + 1;
  if (alt.length > count)
    throw new AppError(
      "invalid",
      `--alt: there are ${alt.length} texts for ${count} files. Give one for each --media, in their order.`,
    );
  const [altText, ...moreAlt] = alt;
  const moreMedia = more.map((url, at) => {
    const text = moreAlt[at] ?? "";
    return text === "" ? { url } : { url, altText: text };
  });
  const metadata: Metadata = {
    ...(title === undefined ? {} : { title }),
    ...(link === undefined ? {} : { link }),
    ...(altText === undefined || altText === "" ? {} : { altText }),
    ...(moreMedia.length === 0 ? {} : { moreMedia }),
    ...Object.fromEntries(set.map(readField)),
  };
  return {
    ...(mediaUrl === undefined ? {} : { mediaUrl }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

const WHOLE_VALUE = /^(?:true|false|null|-?\d+(?:\.\d+)?|[[{"].*)$/s;

/** Values that look like JSON are JSON; everything else is a text. */
function readField(given: string): [string, Metadata[string]] {
  const at = given.indexOf("=");
  if (at < 1)
    throw new AppError(
      "invalid",
      `--set: ${quote(given)} is not key=value. Give for example --set visibility=unlisted.`,
    );
  const key = given.slice(0, at);
  const text = given.slice(at + 1);
  if (!WHOLE_VALUE.test(text)) return [key, text];
  const advice = `A string that begins like JSON is given as --set '${key}="…"'.`;
  return [key, z.json().parse(parseJson({ source: `--set ${key}`, text, advice }))];
}
