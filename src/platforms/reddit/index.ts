import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { definePlatform } from "../../ports/platform.ts";
import { captionAs, shownThere } from "../shared/shown.ts";
import { REDDIT_API } from "./api.ts";
import { communities, consent, flairs } from "./connect.ts";
import { analytics, edit, insights, inspect, isSelf, remove } from "./live.ts";
import { ACCEPTS, publish } from "./publish.ts";
import { check, formatOf, MAX_PICTURES, measure, RedditMetadata } from "./metadata.ts";

const FLAIR = ["flairId", "flairText"];

const CAPABILITIES: StatedCapabilities = {
  media: { required: false, maxItems: MAX_PICTURES, accepts: ACCEPTS },
  caption: { maxLength: 40_000, unit: "weighted" },
  thumbnail: { set: true, replaceAfterPublish: false },
  editPublished: { fields: ["caption", "format", "markdown", ...FLAIR] },
  analytics: { account: ["followers", "karma"], post: ["likes", "comments", "views"] },
  reconciles: "list",
};

export default definePlatform({
  name: "reddit",
  title: "Reddit",
  docs: "https://www.reddit.com/dev/api",
  baseUrl: REDDIT_API,
  capabilities: CAPABILITIES,
  capabilitiesOf: (_account, post) => ({
    ...CAPABILITIES,
    ...(post === null ? {} : { caption: captionAs(CAPABILITIES.caption, formatOf(post.metadata)) }),
    ...(post === null || isSelf(post) ? {} : { editPublished: { fields: FLAIR } }),
  }),
  metadata: RedditMetadata,
  settings: [
    {
      name: "USER_AGENT",
      meaning: "How Posthorn names itself to Reddit, as node:<your domain>:1 (by /u/<your name>)",
      kind: "text",
      default: null,
      isRequired: false,
    },
  ],
  connect: [consent],
  choices: { subreddit: communities, flairId: flairs },
  check,
  preview: ({ caption, metadata }) => shownThere(caption, formatOf(metadata)),
  measure,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});
