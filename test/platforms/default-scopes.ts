/**
 * What each consent asks for where a person wants nothing more. A list may lose scopes and never gains one: a
 * platform refuses the whole consent to an app that was registered before. What is new stands in
 * `ASKED_ONLY_WHEN`.
 */
export const DEFAULT_SCOPES: Readonly<Record<string, readonly string[]>> = {
  "facebook oauth": [
    "pages_show_list",
    "pages_read_engagement",
    "pages_manage_posts",
    "read_insights",
    "pages_manage_engagement",
  ],
  "google_business oauth": ["https://www.googleapis.com/auth/business.manage"],
  "google_business youtube": ["https://www.googleapis.com/auth/business.manage"],
  "instagram instagram": [
    "instagram_business_basic",
    "instagram_business_content_publish",
    "instagram_business_manage_insights",
    "instagram_business_manage_comments",
  ],
  "instagram facebook": [
    "instagram_basic",
    "instagram_content_publish",
    "instagram_manage_insights",
    "instagram_manage_comments",
    "pages_show_list",
    "pages_read_engagement",
  ],
  "linkedin oauth": ["openid", "profile", "w_member_social"],
  "linkedin pages": [
    "r_basicprofile",
    "w_member_social",
    "w_member_social_feed",
    "r_member_postAnalytics",
    "w_organization_social",
    "w_organization_social_feed",
    "r_organization_social",
    "r_organization_social_feed",
    "rw_organization_admin",
  ],
  "mastodon oauth": ["read:accounts", "read:statuses", "write:statuses", "write:media"],
  "pinterest oauth": ["user_accounts:read", "boards:read", "boards:write", "pins:read", "pins:write"],
  "pixelfed oauth": ["read", "write"],
  "reddit oauth": ["identity", "read", "submit", "edit", "flair", "history"],
  "slack oauth": [
    "chat:write",
    "chat:write.public",
    "channels:read",
    "groups:read",
    "files:write",
    "files:read",
    "channels:history",
    "groups:history",
  ],
  "threads threads": [
    "threads_basic",
    "threads_content_publish",
    "threads_manage_insights",
    "threads_delete",
    "threads_manage_replies",
    "threads_read_replies",
  ],
  "tiktok oauth": ["user.info.basic", "video.publish", "video.upload"],
  "tumblr oauth": ["basic", "write", "offline_access"],
  "vimeo oauth": ["public", "private", "upload", "edit", "delete", "stats"],
  "x oauth": ["tweet.read", "tweet.write", "users.read", "media.write", "offline.access"],
  "youtube oauth": [
    "https://www.googleapis.com/auth/youtube.force-ssl",
    "https://www.googleapis.com/auth/yt-analytics.readonly",
  ],
};

/** By platform: what its way "more" asks for besides, and when a person wants that. */
export const ASKED_ONLY_WHEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  facebook: { business_management: "asked for only when Pages of business portfolios are wanted" },
  instagram: {
    business_management: "asked for only when accounts of business portfolios' Pages are wanted",
    instagram_manage_contents: "asked for only when live posts are to be deleted",
  },
  slack: { "users:read": "asked for only when people are looked up to be mentioned" },
  threads: {
    threads_location_tagging: "asked for only when posts are to have places",
    threads_share_to_instagram: "asked for only when posts are shown as stories on Instagram, too",
  },
};
