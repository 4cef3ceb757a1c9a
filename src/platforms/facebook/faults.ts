import * as z from "zod";
import { PlatformFault, type PlatformRequest, type PlatformResponse } from "../../ports/platform-io.ts";
import type { Code, FaultRule } from "../shared/faults.ts";
import { GONE, metaFaults, PERMISSION_CODES } from "../shared/meta/faults.ts";

type Classify = NonNullable<PlatformRequest["classify"]>;

const rejected = (code: Code | readonly Code[], message: string): FaultRule => ({
  code,
  kind: "rejected",
  message,
});

/** Seven digits are a subcode, of one code or another; some answers have them as the code. */
const either = (...numbers: number[]): Code[] => numbers.flatMap((one) => [one, `/${one}`]);

/** Beside what is common to Meta's platforms. */
const RULES: readonly FaultRule[] = [
  rejected(
    "368/1390008",
    "Facebook does not let this Page post for now, because it posted too fast. Wait some hours, then send the post again.",
  ),
  rejected(
    "368/4854002",
    "Facebook asks the person who connected the Page to confirm who they are. Do it in the Facebook app, then send the post again.",
  ),
  rejected(
    "368/1404082",
    "Facebook refused it, because the same was posted again and again. Change the post, then send it again.",
  ),
  rejected(
    either(1609005),
    "Facebook could not read the page that the link leads to. Check the link, then send the post again.",
  ),
  rejected(either(1609008), "Facebook takes no link cards to facebook.com. Put the link into the caption."),
  rejected(
    either(1363040),
    "Facebook takes reels only in the shape 9:16. Crop it, or post it with metadata.kind video.",
  ),
  rejected(
    either(1363127),
    "The film has too few pixels. Facebook takes reels from 540 × 960 on. Give a larger one.",
  ),
  rejected(
    either(1363128),
    "Facebook takes reels from 3 to 90 seconds. Shorten it, or post it with metadata.kind video.",
  ),
  rejected(
    either(1363129),
    "Facebook takes reels with 24 to 60 frames a second. Convert it, then schedule the post again.",
  ),
  rejected(
    either(1366046),
    "Facebook did not take the picture. It is too large, or of another type. Give a JPEG below 4 MB.",
  ),
  rejected(
    either(1346003, 1404102),
    "Facebook refused the content because of its rules. Change the post, then send it again.",
  ),
  rejected(
    either(1404078),
    "The Page needs Facebook's Page Publishing Authorization before it can post. Its admin gets it in the Page's settings.",
  ),
  { code: either(1363047, 1609010), kind: "transient", message: "Facebook has a problem of its own." },
];

/** What an answer of the Graph API means for a Page. */
export const facebookFaults: Classify = metaFaults("Facebook", RULES);

/** For what the Page can do without: a missing permission is no reason to ask for a new consent. */
export function withoutPermission(message: string): Classify {
  return metaFaults("Facebook", [rejected([...PERMISSION_CODES], message), ...RULES]);
}

/** An object that is not there is an answer. */
export const orGone: Classify = metaFaults("Facebook", [{ code: GONE, kind: "ok" }, ...RULES]);

/** The text is that of the post before. */
export class Duplicate extends PlatformFault {}

const Code506 = z.looseObject({ error: z.looseObject({ code: z.coerce.number().pipe(z.literal(506)) }) });

export function orDuplicate(response: PlatformResponse): ReturnType<Classify> {
  if (!Code506.safeParse(response.json).success) return facebookFaults(response);
  return new Duplicate(
    "rejected",
    "Facebook refused it as a duplicate of a post that the Page has just published. Change the text, then send the post again.",
    { httpStatus: response.status },
  );
}

/** What Facebook names where the processing of a film failed, in our words. */
export function filmFault(code: number | null): PlatformFault {
  const rule = RULES.find((one) => code !== null && [one.code].flat().includes(code));
  if (rule !== undefined && "message" in rule) return new PlatformFault("rejected", rule.message);
  const named = code === null ? "" : ` (error ${code})`;
  return new PlatformFault(
    "rejected",
    `Facebook could not process the film${named}. Check that it is a playable MP4 within the limits, then send the post again.`,
  );
}
