import { stageOn } from "../../support/contract/open-stage.ts";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { type PlatformFixture, unfitWith } from "../../support/contract/stage.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { UNAUTHORIZED, type Answer } from "../youtube/answers.ts";
import { toWire } from "../youtube/fake.ts";
import { invalid, refusal } from "./fake.ts";
import { createBusinessWorld } from "./world.ts";

const answering = (answer: Answer) => async (): Promise<OutboundResponse> => ({ ...toWire(answer), url: "" });

const DAYS = { startsAt: "2026-12-24T18:30", endsAt: "2026-12-24T20:00" };

export default {
  async openStage(platform) {
    const { ctx, account, fake } = await createBusinessWorld(platform);
    const { wrong } = fake;
    return stageOn({
      ctx,
      account,
      wrong,
      shown: () => fake.shown(),
      textOf: ({ summary }) => String(summary),
    });
  },
  post: { caption: "A horn", media_url: PHOTO_URL, metadata: { link: "https://posthorn.example/" } },
  otherPosts: {
    "a text": { caption: "Only words", media_url: "", metadata: { actionType: "CALL", language: "en" } },
    "an event": {
      caption: "We blow it",
      media_url: "",
      metadata: { topicType: "EVENT", title: "Horns at night", ...DAYS },
    },
    "an offer": {
      caption: "Two for one",
      media_url: PHOTO_URL,
      metadata: { topicType: "OFFER", title: "Two horns", ...DAYS, couponCode: "HORN2" },
    },
  },
  troubles: {
    "meets a limit of the minute": answering(
      refusal(429, "RESOURCE_EXHAUSTED", [
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "RATE_LIMIT_EXCEEDED",
          domain: "googleapis.com",
          metadata: { quota_limit_value: "300" },
        },
      ]),
    ),
    "meets an unavailable API": answering(refusal(503, "UNAVAILABLE")),
  },
  refusesToken: answering(UNAUTHORIZED),
  refusals: [
    {
      told: [
        [/^caption: Google refused it/, answering(invalid(3, "summary"))],
        [/^metadata\.title/, answering(invalid("INVALID_VALUE", "event.title"))],
        [/^metadata\.actionType/, answering(invalid(2, "call_to_action.url"))],
        [/^mediaUrl: .*POSTHORN_PUBLIC_URL/, answering(invalid(1000))],
        [/^mediaUrl: /, answering(invalid("PHOTO_UPLOAD_FAILED"))],
        [
          /takes this location for one of a chain/,
          answering(invalid("LOCATION_DISABLED_FOR_LOCAL_POST_API")),
        ],
        [/the error FAILED_PRECONDITION/, answering(refusal(400, "FAILED_PRECONDITION"))],
      ],
    },
    { end: "reconnect", told: [[/must be reconnected/, answering(refusal(403, "PERMISSION_DENIED"))]] },
  ],
  unfit: unfitWith("", [
    [{}, /caption: /, ""],
    [{ topicType: "EVENT", title: "A" }, /metadata\.topicType: /],
    [{ title: "A", ...DAYS }, /metadata\.topicType: /],
    [{ ...DAYS, topicType: "EVENT", title: "A", endsAt: "2026-12-24T18:29" }, /metadata\.endsAt: /],
    // A day that is none, and a time with a zone.
    [{ ...DAYS, topicType: "EVENT", title: "A", startsAt: "2026-02-30T10:00" }, /metadata\.startsAt/],
    [{ ...DAYS, topicType: "EVENT", title: "A", startsAt: "2026-12-24T18:30Z" }, /metadata\.startsAt/],
    [{ couponCode: "H" }, /metadata\.topicType: /],
    [{ topicType: "OFFER", title: "A", ...DAYS, link: "https://a.example" }, /metadata\.actionType: /],
    [{ actionType: "CALL", link: "https://a.example" }, /metadata\.link: /],
    [{ actionType: "BOOK" }, /metadata\.link: /],
    [{ thumbnailUrl: PHOTO_URL }, /metadata/],
  ]),
  needed: { "names the post or the location": ["name"], "whether everybody sees it": ["state"] },
  scopes: {
    oauth: ["https://www.googleapis.com/auth/business.manage"],
    youtube: ["https://www.googleapis.com/auth/business.manage"],
  },
  previews: {
    "leads an offer's button to where it is redeemed": {
      post: { caption: "a", metadata: { topicType: "OFFER", redeemOnlineUrl: "https://a.example/" } },
      shown: { link: "https://a.example/" },
    },
  },
} satisfies PlatformFixture;
