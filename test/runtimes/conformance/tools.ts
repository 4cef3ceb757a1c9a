import { z } from "zod";
import { AppError } from "../../../src/domain/errors.ts";
import type { ToolView } from "../../../src/mcp/kinds.ts";
import type { CallContext } from "../../../src/context.ts";
import type { AnyTool } from "../../../src/toolkit/define-tool.ts";
import { fixture, NOTHING } from "./fixture.ts";

/** Longer than the shortest time between two notifications. */
const STEP_MS = 120;

/** One red pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A header for no samples at all. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;

const PHONE_OR_EMAIL = z.strictObject({
  name: z.string().optional(),
  address: z.object({ street: z.string().optional(), city: z.string().optional() }).optional(),
  contactMethod: z.enum(["phone", "email"]).optional(),
  phone: z.string().optional(),
  email: z.string().optional(),
});

/** What zod cannot say, in the words of the suite. */
const KEYWORDS = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ["phone"] },
  else: { required: ["email"] },
};

/** Tools that ask nothing. */
export const PLAIN_TOOLS: readonly AnyTool[] = [
  fixture("test_simple_text", NOTHING, async () => "This is a simple text response for testing."),
  fixture("test_image_content", NOTHING, async () => "One red pixel."),
  fixture("test_audio_content", NOTHING, async () => "Silence."),
  fixture("test_embedded_resource", NOTHING, async () => "A resource."),
  fixture("test_multiple_content_types", NOTHING, async () => "Multiple content types test:"),
  fixture("test_error_handling", NOTHING, async () => {
    throw new AppError("conflict", "This tool intentionally returns an error for testing.");
  }),
  fixture("test_tool_with_progress", NOTHING, (_args, call) => inSteps(call, [0, 50, 100])),
  fixture("test_tool_with_logging", NOTHING, (_args, call) => inSteps(call, [1, 2, 3])),
  fixture("test_logging_tool", NOTHING, (_args, call) => inSteps(call, [1, 2])),
  fixture(
    "json_schema_2020_12_tool",
    PHONE_OR_EMAIL.meta(KEYWORDS),
    async ({ phone, email }) => phone ?? email ?? "nothing",
  ),
];

export const VIEWS: readonly ToolView[] = [
  { tool: "test_image_content", content: () => [IMAGE] },
  { tool: "test_audio_content", content: () => [{ type: "audio", data: WAV, mimeType: "audio/wav" }] },
  {
    tool: "test_embedded_resource",
    content: () => [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  },
  {
    tool: "test_multiple_content_types",
    content: (result) => [
      IMAGE,
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify(result),
        },
      },
    ],
  },
];

async function inSteps({ ctx, signal, progress }: CallContext, steps: readonly number[]): Promise<string> {
  const last = steps.at(-1) ?? 0;
  for (const step of steps) {
    progress(step, last, `Step ${step} of ${last}`);
    await ctx.clock.sleep(STEP_MS, signal);
  }
  return "Done.";
}
