import type { SetupGuide } from "../../ports/connect.ts";

const PORTAL = "https://www.linkedin.com/developers/apps";

const SIXTY_DAYS =
  "A new sign-in every 60 days: only apps that LinkedIn approved as a partner can renew a permission by themselves. The channel says so 7 days before.";

const SHARED_WARNINGS = [
  "Posthorn asks for a version of LinkedIn's API that is some months old and moves on with the date. POSTHORN_LINKEDIN_API_VERSION sets a fixed one. LinkedIn retires each version after about a year.",
];

export const PROFILE_GUIDE: SetupGuide = {
  url: PORTAL,
  needs: ["It costs nothing, and needs no review.", SIXTY_DAYS],
  steps: [
    "Create an app in LinkedIn's developer portal. It must belong to a LinkedIn Page: one of yours, or LinkedIn's default Page for individual developers.",
    "If it is a Page of yours, press Verify under Settings. Then, as a super admin of that Page, open the address that LinkedIn gives.",
    "Under Products, add Share on LinkedIn and Sign In with LinkedIn using OpenID Connect.",
    "Under Auth, enter {redirectUrl} as an authorized redirect URL.",
    "Copy client id and primary client secret into POSTHORN_LINKEDIN_CLIENT_ID and POSTHORN_LINKEDIN_CLIENT_SECRET.",
  ],
  warnings: [
    "Such an app posts as members at once, without a review. LinkedIn lets it write no comments, so firstComment is refused. It also shows such an app no numbers of members' posts.",
    "LinkedIn lets a member's app post some 150 times a day.",
    ...SHARED_WARNINGS,
  ],
};

/** https://learn.microsoft.com/en-us/linkedin/marketing/community-management-app-review */
export const PAGE_GUIDE: SetupGuide = {
  url: PORTAL,
  needs: [
    "A registered legal organization, and LinkedIn's review of its app. LinkedIn gives the Community Management API only for commercial use, and not to private persons.",
    SIXTY_DAYS,
  ],
  steps: [
    "Create another app in LinkedIn's developer portal only for this. LinkedIn allows the Community Management API only as an app's only product, so an app with other products cannot get it.",
    "Choose the Page of your organization as the app's Page. Press Verify under Settings, and have a super admin of the Page open the address that LinkedIn gives.",
    "Under Products, request the Community Management API. LinkedIn asks for the organization's legal name, registered address, website and privacy policy, and for a business e-mail address.",
    "Under Auth, enter {redirectUrl} as an authorized redirect URL.",
    "Copy client id and primary client secret into POSTHORN_LINKEDIN_PAGE_CLIENT_ID and POSTHORN_LINKEDIN_PAGE_CLIENT_SECRET.",
    "Compare the scopes listed under Auth with these: {scopes}. Where one is missing there, set POSTHORN_LINKEDIN_PAGE_SCOPES to those that are listed, because LinkedIn refuses the whole consent for one that the app does not have.",
  ],
  warnings: [
    "The same consent connects the member too, with comments and numbers that an app for profiles does not get. LinkedIn knows a member by another id in each app, so a profile that was connected by the other app becomes a second channel.",
    ...SHARED_WARNINGS,
  ],
};
