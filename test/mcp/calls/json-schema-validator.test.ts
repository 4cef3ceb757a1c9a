import { expect, it } from "vitest";
import { JSON_SCHEMA_VALIDATOR } from "../../../src/mcp/calls/json-schema-validator.ts";

const form = JSON_SCHEMA_VALIDATOR.getValidator({
  type: "object",
  properties: {
    reason: { type: "string", minLength: 3 },
    when: { type: "string", format: "date-time" },
    channel: { type: "string", enum: ["feed", "webhook"] },
    times: { type: "integer", minimum: 1 },
  },
  required: ["reason"],
});

it("takes answers that fit the form", () => {
  const answer = { reason: "spam", when: "2026-11-21T09:00:00Z", channel: "feed", times: 2 };
  expect(form(answer)).toEqual({ valid: true, data: answer, errorMessage: undefined });
});

it.each([
  [{}, "reason"],
  [{ reason: "no" }, "reason"],
  [{ reason: "spam", when: "tomorrow" }, "when"],
  [{ reason: "spam", channel: "mail" }, "channel"],
  [{ reason: "spam", times: 0.5 }, "times"],
])("names what is wrong with %j", (answer, field) => {
  expect(form(answer)).toMatchObject({ valid: false, errorMessage: expect.stringContaining(field) });
});
