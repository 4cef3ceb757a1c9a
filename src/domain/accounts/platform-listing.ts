import * as z from "zod";
import { Capabilities, MEDIA_KINDS } from "./account.ts";

/** So many whole platforms make an answer that a model can still read. */
export const MAX_WHOLE_PLATFORMS = 10;

const CONNECT_KINDS = ["none", "secrets", "oauth", "redirect"] as const;

/** Which platforms are told whole. */
export const PlatformsArgs = z.strictObject({
  provider: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(MAX_WHOLE_PLATFORMS)
    .optional()
    .describe("Only these, in full. Default: all, in short."),
});
export type PlatformsArgs = z.infer<typeof PlatformsArgs>;

/** One way to connect, as a caller chooses among them. */
const WayListing = z.strictObject({
  name: z.string(),
  label: z.string(),
  kind: z.enum(CONNECT_KINDS),
  instructions: z.string(),
  missing: z.array(z.string()).describe("Settings that this way needs and that are not set."),
  secretsSchema: z
    .looseObject({})
    .nullable()
    .describe("JSON Schema of what the person enters, on a page of ours or at posthorn connect."),
  scopes: z.array(z.string()).describe("What the person is asked to allow."),
});

const SettingListing = z.strictObject({
  name: z.string(),
  meaning: z.string(),
  kind: z.enum(["text", "secret", "address"]),
  default: z.string().nullable(),
  isRequired: z.boolean(),
  isSet: z.boolean(),
});

const SetupListing = z.strictObject({
  url: z.string().describe("Where the person begins."),
  needs: z.array(z.string()).describe("What the person must have or know before they begin. Tell it first."),
  steps: z.array(z.string()),
  warnings: z.array(z.string()).describe("What works without a review, limits, quirks."),
});

/** A platform that channels can be on: in short, and what is told of it whole. */
export const PlatformListing = z.strictObject({
  provider: z.string(),
  title: z.string(),
  aliases: z.array(z.string()).optional(),
  configured: z.boolean(),
  missing: z.array(z.string()).describe("Settings that must be set first."),
  connect: z
    .enum(CONNECT_KINDS)
    .describe(
      "none: connects at once; secrets: a person enters them on a page; oauth, redirect: a person agrees on the platform.",
    ),
  ways: z.array(z.string()).describe("Names of the ways to connect, the default first."),
  media: z.array(z.enum(MEDIA_KINDS)),
  caption: Capabilities.shape.caption,
  nativeScheduling: z.boolean(),
  docs: z.string().optional(),
  capabilities: Capabilities.optional(),
  metadataSchema: z.looseObject({}).optional().describe("JSON Schema of a post's metadata."),
  connecting: z.array(WayListing).optional(),
  settings: z.array(SettingListing).optional(),
  results: z.string().optional().describe("Whether figures are collected."),
  redirectUrl: z.string().nullable().optional().describe("To be registered with the platform's app."),
  setup: SetupListing.nullable().optional().describe("How a person registers an app. Null: none is needed."),
});
export type PlatformListing = z.infer<typeof PlatformListing>;

/** Whose values of a metadata field are asked for. */
export const ChoicesArgs = z.strictObject({
  accountId: z.string().min(1).max(320).describe("The channel."),
  field: z.string().min(1).max(100).describe("Key of the metadata."),
  search: z.string().max(200).optional().describe("Only those with this in their name."),
});
export type ChoicesArgs = z.infer<typeof ChoicesArgs>;

const Choice = z.strictObject({
  value: z.string().describe("What goes into the metadata."),
  label: z.string().describe("What a person knows it by."),
});

export const Choices = z.strictObject({
  choices: z.array(Choice).describe("100 at most, the best first."),
});
export type Choices = z.infer<typeof Choices>;
