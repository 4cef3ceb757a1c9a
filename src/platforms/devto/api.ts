import * as z from "zod";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, type Code, type FaultTable, refusedField } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";

export const API = "https://dev.to/api";

export const {
  ask: call,
  askOrGone: callOrGone,
  askWith: callWith,
} = restApi({
  base: API,
  // Without the version, an older one answers.
  sign: ({ apiKey = "" }) => ({
    headers: { accept: "application/vnd.forem.api-v1+json", "api-key": apiKey },
  }),
  faults: () => FAULTS,
});

/** https://developers.forem.com/api/v1#tag/users/operation/getUserMe */
export const User = z.looseObject({
  id: z.int(),
  username: z.string().min(1),
  name: z.string().catch(""),
  profile_image: z.url().nullish().catch(null),
});

const Count = z.int().min(0).nullish().catch(null);

/** An article, in answers and lists alike. */
export const Article = z.looseObject({
  id: z.int(),
  title: z.string().catch(""),
  url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .catch(null),
  body_markdown: z.string().nullish().catch(null),
  published_at: z.string().nullish().catch(null),
  public_reactions_count: Count,
  comments_count: Count,
  page_views_count: Count,
});
export type Article = z.infer<typeof Article>;

const DUPLICATE = "duplicate";

const Refusal = z.looseObject({ error: z.string() });

/** Forem names its errors only in sentences, by the fields that they begin with. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/canonical url/i, "canonicalUrl"],
  [/body markdown has already/i, DUPLICATE],
  [/\btitle\b/i, "title"],
  [/\btags?\b/i, "tags"],
  [/main image/i, "thumbnailUrl"],
];

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const words = status === 422 ? Refusal.safeParse(json).data?.error : undefined;
  return words === undefined ? [] : CODES.flatMap(([sign, code]) => (sign.test(words) ? [code] : []));
}

const FAULTS: FaultTable = {
  title: "DEV",
  codesOf,
  rules: [
    ...byCode("rejected", {
      [DUPLICATE]: "DEV already has an article of yours with the same title and text. Change one of them.",
    }),
    ...["canonicalUrl", "title", "tags", "thumbnailUrl"].flatMap((name) =>
      refusedField(`metadata.${name}`, { [name]: "DEV refused it. Change it, then send the post again." }),
    ),
    {
      status: 422,
      kind: "rejected",
      message: "DEV refused the article. Change the post, then send it again.",
    },
    { status: 403, kind: "rejected", message: "DEV does not let this account do that." },
    { status: 404, kind: "rejected", message: "It is not on DEV any more. It was deleted there." },
  ],
};
