import type { PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import type { FaultRule } from "../shared/faults.ts";
import { googleFaults, NO_QUOTA, ofField } from "../shared/google.ts";

const CHANGE_IT = "Change it, then send the post again.";

/** What Google calls the fields of a post, and what we do. */
const FIELDS: Readonly<Record<string, string>> = {
  summary: "caption",
  event: "metadata.title, startsAt or endsAt",
  offer: "metadata.couponCode, redeemOnlineUrl or termsConditions",
  callToAction: "metadata.actionType or link",
  languageCode: "metadata.language",
  media: "mediaUrl",
  scheduledTime: "scheduledAt",
};

/** https://developers.google.com/my-business/reference/rest/Shared.Types/ErrorCode; numbers as they are sent. */
const RULES: readonly FaultRule[] = [
  {
    code: NO_QUOTA,
    kind: "setup",
    message:
      "Google has not approved the Google Cloud project for the Business Profile APIs, so its quota is 0. Apply for it at https://support.google.com/business/contact/api_default.",
  },
  {
    code: ["PHOTO_FETCH_FAILED", "PHOTO_UPLOAD_FAILED", 1000, 1001],
    kind: "rejected",
    field: "mediaUrl",
    message:
      "Google could not fetch or use the picture. It takes JPEG and PNG of 10 KB to 5 MB. Check that POSTHORN_PUBLIC_URL can be reached from the internet.",
  },
  {
    code: "LOCATION_DISABLED_FOR_LOCAL_POST_API",
    kind: "rejected",
    message:
      "Google takes this location for one of a chain, and lets no program post to it. Post in the Business Profile itself.",
  },
  {
    code: ["OPERATION_UNSUPPORTED_UNDER_ACCOUNT_CONDITION", 1301],
    kind: "rejected",
    message: "Google does not let this location post. Look at its state in the Business Profile.",
  },
  ...Object.entries(FIELDS).map(([theirs, field]): FaultRule => {
    return { code: ofField(theirs), kind: "rejected", field, message: `Google refused it. ${CHANGE_IT}` };
  }),
];

const FALLBACKS: readonly FaultRule[] = [
  {
    status: 403,
    kind: "auth",
    message: "The Google account may not manage this location (any more).",
  },
  { status: 404, kind: "auth", message: "Google does not find this location (any more)." },
];

/** How answers of the Business Profile APIs are read. */
export function businessFaults(
  io: Pick<PlatformIo, "now">,
  rules: readonly FaultRule[] = [],
): NonNullable<PlatformRequest["classify"]> {
  const all = { rules: [...rules, ...RULES], fallbacks: FALLBACKS };
  return googleFaults({ title: "Google Business Profile", api: "Business Profile APIs", ...all }, io);
}
