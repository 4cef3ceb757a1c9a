import * as z from "zod";
import { faultsBy } from "../shared/faults.ts";

const Words = z.looseObject({ code: z.string().max(100) });

const TOO_LARGE = {
  kind: "rejected",
  field: "mediaUrl",
  message:
    "is larger than the site takes (Media, Add New on the site shows how much). Give a smaller file or raise the limit there, then send the post again.",
} as const;

/** https://developer.wordpress.org/rest-api/ names errors by `code`; hosts and firewalls in front of it do not. */
export const classify = faultsBy({
  title: "WordPress",
  codesOf: ({ status, json }) => {
    const words = Words.safeParse(json);
    return status >= 400 && words.success ? [words.data.code] : [];
  },
  rules: [
    {
      status: 401,
      kind: "auth",
      message:
        "The site does not accept the application password. It was revoked, or the web server or a security plugin keeps the Authorization header from WordPress.",
    },
    {
      code: ["rest_cannot_create", "rest_cannot_edit", "rest_cannot_publish", "rest_forbidden_context"],
      kind: "auth",
      message: "The user may not publish on this site. It needs the role of an author or editor.",
    },
    // Told with the number of the term that is there.
    { code: "term_exists", kind: "ok" },
    {
      code: ["rest_post_invalid_id", "rest_already_trashed"],
      kind: "rejected",
      message: "The post is not on the site any more.",
    },
    {
      // The site's own page, too: nothing of WordPress's API says that a post is gone.
      status: 404,
      kind: "auth",
      message:
        "The site's REST API is switched off, or has moved. Switch it on, or reconnect the channel with the new address.",
    },
    {
      code: ["rest_upload_no_data", "rest_upload_file_too_big"],
      ...TOO_LARGE,
    },
    { status: 413, ...TOO_LARGE },
    {
      // Told apart in words of the site's language alone, and with a 500.
      code: [
        "rest_upload_unknown_error",
        "rest_upload_sideload_error",
        "rest_upload_limited_space",
        "rest_upload_user_quota_exceeded",
      ],
      kind: "rejected",
      field: "mediaUrl",
      message:
        "the site refused the file: it takes none of this type or size (Media, Add New on the site shows which), or has no space left. Give another one, then send the post again.",
    },
    {
      status: 403,
      kind: "rejected",
      message:
        "The site does not let this user do that, or a firewall in front of it refused. Ask its administrator.",
    },
  ],
});
