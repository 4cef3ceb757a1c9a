import * as z from "zod";
import { commonMetadata } from "../../domain/posts/common-metadata.ts";
import type { CheckResult, PlatformPost } from "../../ports/platform.ts";
import type { JsonObject } from "../../ports/platform-io.ts";

export const MAX_SUMMARY = 1_500;
const MAX_TITLE = 58;

const { title, link, language } = commonMetadata;

/** Days and hours as the place itself has them: Google knows no time zone here. */
const Moment = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, "must be a time without a zone, as 2031-12-24T18:30")
  .refine((text) => {
    const at = Date.parse(`${text}Z`);
    return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
  }, "is not a day and time that exists");

const Text = z.string().min(1).max(4_000);
const Address = z.url({ protocol: /^https?$/ }).max(2_000);

/** https://developers.google.com/my-business/reference/rest/v4/accounts.locations.localPosts */
export const BusinessMetadata = z.strictObject({
  topicType: z
    .enum(["STANDARD", "EVENT", "OFFER"])
    .optional()
    .describe("What it is: an update (STANDARD, default), an event or an offer.")
    .meta({ title: "Kind of post" }),
  title: title.unwrap().max(MAX_TITLE).optional().describe("Title of an event or offer."),
  startsAt: Moment.optional()
    .describe("When an event or offer begins, in the place's local time, no zone.")
    .meta({ title: "Begins" }),
  endsAt: Moment.optional().describe("When it ends, the same way.").meta({ title: "Ends" }),
  actionType: z
    .enum(["BOOK", "ORDER", "SHOP", "LEARN_MORE", "SIGN_UP", "CALL"])
    .optional()
    .describe("The button. Default LEARN_MORE where there is a link. CALL needs none.")
    .meta({ title: "Button" }),
  link: link.describe("Where the button leads to."),
  couponCode: Text.optional().describe("Of an offer."),
  redeemOnlineUrl: Address.optional()
    .describe("Where an offer is redeemed.")
    .meta({ title: "Where to redeem it" }),
  termsConditions: Text.optional().describe("Of an offer.").meta({ title: "Terms and conditions" }),
  language: language.describe("Language of the text. Default: the location's."),
});
export type BusinessPost = PlatformPost<z.infer<typeof BusinessMetadata>>;

/** Which part of a post at Google holds which of our fields. */
const PARTS: Readonly<Record<string, string>> = {
  caption: "summary",
  title: "event",
  startsAt: "event",
  endsAt: "event",
  actionType: "callToAction",
  link: "callToAction",
  couponCode: "offer",
  redeemOnlineUrl: "offer",
  termsConditions: "offer",
  language: "languageCode",
};

export const EDITABLE = Object.keys(PARTS);

/** The parts that hold what was changed. */
export function partsOf(changed: readonly string[]): string[] {
  return [...new Set(changed.flatMap((field) => PARTS[field] ?? []))];
}

/** All but the picture; what is not there is left out. */
export function fieldsOf({ caption, metadata }: Pick<BusinessPost, "caption" | "metadata">, usual: unknown) {
  const { topicType = "STANDARD", language: code = usual, ...rest } = metadata;
  const { title: name, startsAt, endsAt, couponCode, redeemOnlineUrl, termsConditions } = rest;
  const actionType = rest.actionType ?? (rest.link === undefined ? undefined : "LEARN_MORE");
  const offer = given({ couponCode, redeemOnlineUrl, termsConditions });
  return given({
    languageCode: typeof code === "string" ? code : undefined,
    summary: caption ?? undefined,
    topicType,
    callToAction: actionType === undefined ? undefined : given({ actionType, url: rest.link }),
    event:
      startsAt === undefined || endsAt === undefined
        ? undefined
        : given({ title: name, schedule: { ...partOf("start", startsAt), ...partOf("end", endsAt) } }),
    offer: Object.keys(offer).length === 0 ? undefined : offer,
  });
}

function given(fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  const known: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) known[name] = value;
  return known;
}

function partOf(name: "start" | "end", moment: string): JsonObject {
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0] = moment.split(/\D/).map(Number);
  return { [`${name}Date`]: { year, month, day }, [`${name}Time`]: { hours, minutes } };
}

/** As people write them; Google refuses posts that hold one. */
const PHONE = /(?:\+|\b00)\d[\d\s().-]{7,40}\d|\(?\b\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}\b/;

/** What the schema cannot say. */
export function checkPost({ caption, mediaUrl, metadata }: BusinessPost): CheckResult {
  const { topicType = "STANDARD", title: name, startsAt, endsAt, actionType, link: url } = metadata;
  const { couponCode, redeemOnlineUrl, termsConditions } = metadata;
  const isOffer = topicType === "OFFER";
  const rules: readonly (readonly [isWrong: boolean, sentence: string])[] = [
    [
      topicType === "STANDARD" && mediaUrl === "" && (caption ?? "").trim() === "",
      "caption: is empty, and there is no picture. Give one of them.",
    ],
    [
      topicType === "STANDARD" && [name, startsAt, endsAt].some((one) => one !== undefined),
      "metadata.topicType: with title, startsAt and endsAt it must be EVENT or OFFER.",
    ],
    [
      topicType !== "STANDARD" && [name, startsAt, endsAt].includes(undefined),
      "metadata.topicType: an event or offer needs title, startsAt and endsAt.",
    ],
    [
      startsAt !== undefined && endsAt !== undefined && endsAt < startsAt,
      "metadata.endsAt: is before startsAt. Give a later time.",
    ],
    [
      !isOffer && [couponCode, redeemOnlineUrl, termsConditions].some((one) => one !== undefined),
      "metadata.topicType: with couponCode, redeemOnlineUrl or termsConditions it must be OFFER.",
    ],
    [
      isOffer && (actionType !== undefined || url !== undefined),
      "metadata.actionType: an offer has a button of its own. Give redeemOnlineUrl instead of link.",
    ],
    [actionType === "CALL" && url !== undefined, "metadata.link: CALL takes none. Leave it out."],
    [
      actionType !== undefined && actionType !== "CALL" && url === undefined,
      `metadata.link: the button ${actionType ?? ""} needs one. Give it.`,
    ],
  ];
  const errors = rules.flatMap(([isWrong, sentence]) => (isWrong ? [sentence] : []));
  const warnings = PHONE.test(caption ?? "")
    ? [
        "caption: seems to hold a phone number. Google rejects such posts. Take it out and give actionType CALL.",
      ]
    : [];
  return { errors, warnings };
}
