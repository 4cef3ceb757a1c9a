import { DAY, MINUTE } from "../../domain/time.ts";
import { definePlatform } from "../../ports/platform.ts";
import { KEY } from "./connect.ts";
import {
  analytics,
  authors,
  edit,
  EDITABLE_FIELDS,
  insights,
  inspect,
  newsletters,
  remove,
  setThumbnail,
} from "./live.ts";
import { check, GhostMetadata } from "./metadata.ts";
import { MEDIA, publish } from "./publish.ts";

/** Articles on a Ghost site, of any host; Ghost 5 and 6. */
export default definePlatform({
  name: "ghost",
  title: "Ghost",
  docs: "https://docs.ghost.org/admin-api",
  capabilities: {
    media: MEDIA,
    caption: { maxLength: 100_000, unit: "characters" },
    scheduling: "platform",
    // Nearer than a few minutes it lies there as a draft, and is published at its time.
    leadMinutes: { min: 0, default: 0, max: (365 * DAY) / MINUTE },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: EDITABLE_FIELDS },
    analytics: { account: ["followers"], post: ["clicks"] },
    reconciles: "list",
    fetchesMedia: [],
    quotas: [],
  },
  metadata: GhostMetadata,
  connect: [KEY],
  choices: { newsletter: newsletters, authors },
  check,
  inspect,
  publish,
  edit,
  setThumbnail,
  insights,
  analytics,
  remove,
});
