import * as z from "zod";

/** More than any platform gives. */
const MAX_CHARS = 2_000;

const Given = z
  .string()
  .min(1)
  .max(MAX_CHARS)
  .refine((text) => !/^\s|\s$|\p{Cc}/u.test(text), {
    error: "must have no space around it, and no line breaks or other control characters. Copy it again",
  });

/** The app that a person registered at a platform, as they enter it while Posthorn runs. */
export const PlatformAppArgs = z.strictObject({
  clientId: Given.describe("The app's id there (client id, app id, client key)."),
  clientSecret: Given.optional().describe("Its secret. Left out only for an app that has none."),
  way: z
    .string()
    .max(64)
    .optional()
    .describe(
      "Of a platform with several apps, the way to connect that this one is for. Default: the first.",
    ),
});
export type PlatformAppArgs = z.infer<typeof PlatformAppArgs>;

/** What came of it. The app itself is never answered. */
export const PlatformAppState = z.strictObject({
  provider: z.string(),
  configured: z.boolean().describe("Whether channels can be connected now."),
  missing: z.array(z.string()).describe("Settings that are still missing."),
  environment: z
    .array(z.string())
    .describe("Settings of the app that the environment names. They stand before what is entered."),
  isAccepted: z
    .boolean()
    .optional()
    .describe(
      "Of an app that was entered, whether the platform took it when it was tried. False: it could not be asked, or its answer did not say.",
    ),
});
export type PlatformAppState = z.infer<typeof PlatformAppState>;
