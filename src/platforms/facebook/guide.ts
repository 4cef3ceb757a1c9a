import type { SetupGuide } from "../../ports/connect.ts";

export const SETUP: SetupGuide = {
  url: "https://developers.facebook.com/apps",
  needs: [
    "A Page. Facebook lets no app post to personal profiles and groups.",
    "About half an hour at Meta, in this order: an app, the permissions of its use case, the redirect address, and the switch to Live. It costs nothing, and needs no review for Pages of your own.",
    "A new sign-in every 60 days. Facebook has no way to renew a person's consent.",
  ],
  steps: [
    'Make an app with the use case "Manage everything on your Page". That is the simpler kind of app.',
    "Add these permissions to the use case: {scopes}. business_management is for the Pages of business portfolios, such as those of firms and agencies. Other Pages are found without it.",
    'Enter {redirectUrl} under Facebook Login, "Valid OAuth Redirect URIs".',
    "Copy App ID and App secret from App settings, Basic, into POSTHORN_FACEBOOK_CLIENT_ID and POSTHORN_FACEBOOK_CLIENT_SECRET.",
    "Leave POSTHORN_FACEBOOK_LOGIN_CONFIG_ID empty. Only an app of the type Business (with Facebook Login for Business) needs it. For that, make a configuration there with the same permissions and a user access token, and enter its id.",
  ],
  warnings: [
    "Without App Review, only people with a role in the app (admin, developer, tester) can connect. For your own Pages that is enough. Their posts are public once the app is live.",
    "While the app is in development, only people with a role in it see what it posts. Switch it to Live.",
    "A live app takes only https redirect addresses. http://localhost works while it is in development.",
    "After 60 days without a new sign-in, texts, pictures and reels go on for a while, and other films stop. After 90 days Facebook closes the data.",
    "Where Facebook says Invalid Scopes, the app lacks the permissions that it names. Add them to the app, or name the others in POSTHORN_FACEBOOK_SCOPES.",
    "Facebook may keep vertical films of more than 90 seconds as drafts. Posthorn checks whether they are public, and says where a person has to publish them.",
    "A Page takes 30 reels in 24 hours.",
  ],
};
