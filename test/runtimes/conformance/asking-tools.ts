import { z } from "zod";
import type { Inquiry } from "../../../src/context.ts";
import type { AnyTool } from "../../../src/toolkit/define-tool.ts";
import { askingFixture, clientOf, fixture, form } from "./fixture.ts";

const NAME = form("What is your name?", { name: { type: "string" } });
const CONSENT = form("Please confirm", { ok: { type: "boolean" } });
const FOLDERS = { kind: "folders" } as const;

function textOf(prompt: string, maxTokens = 100) {
  return { kind: "text", prompt, maxTokens } as const;
}

const DEFAULTS = form("Check what is filled in", {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
});

const OPTIONS = ["option1", "option2", "option3"];
const TITLED = [
  { const: "value1", title: "First" },
  { const: "value2", title: "Second" },
  { const: "value3", title: "Third" },
];

const CHOICES = form("Choose", {
  untitledSingle: { type: "string", enum: OPTIONS },
  titledSingle: { type: "string", oneOf: TITLED },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
  titledMulti: { type: "array", items: { anyOf: TITLED } },
});

/** Tools that ask the client, whichever way its revision of the protocol has for that. */
export const ASKING_TOOLS: readonly AnyTool[] = [
  fixture("test_sampling", z.strictObject({ prompt: z.string() }), async ({ prompt }, call) => {
    const { answer } = clientOf(call).ask({ answer: textOf(prompt) });
    return `LLM response: ${answer.text}`;
  }),
  fixture("test_elicitation", z.strictObject({ message: z.string() }), async ({ message }, call) =>
    describe(
      clientOf(call).ask({ user: form(message, { username: { type: "string" }, email: { type: "string" } }) })
        .user,
    ),
  ),
  askingFixture("test_elicitation_sep1034_defaults", (client) =>
    describe(client.ask({ defaults: DEFAULTS }).defaults),
  ),
  askingFixture("test_elicitation_sep1330_enums", (client) =>
    describe(client.ask({ choices: CHOICES }).choices),
  ),
  askingFixture(
    "test_missing_capability",
    (client) => client.ask({ answer: textOf("Anything?") }).answer.text,
  ),
  askingFixture("test_streaming_elicitation", (client) =>
    describe(client.ask({ user_name: NAME }).user_name),
  ),
  askingFixture("test_input_required_result_elicitation", (client) => {
    const { content } = client.ask({ user_name: NAME }).user_name;
    return `Hello, ${String(content["name"])}!`;
  }),
  askingFixture(
    "test_input_required_result_sampling",
    (client) =>
      client.ask({ capital_question: textOf("What is the capital of France?") }).capital_question.text,
  ),
  askingFixture("test_input_required_result_list_roots", (client) =>
    client.ask({ client_roots: FOLDERS }).client_roots.uris.join(" "),
  ),
  askingFixture(
    "test_input_required_result_request_state",
    (client) => `state-ok ${describe(client.ask({ consent: CONSENT }).consent)}`,
  ),
  askingFixture("test_input_required_result_tampered_state", (client) =>
    describe(client.ask({ consent: CONSENT }).consent),
  ),
  askingFixture("test_input_required_result_multiple_inputs", (client) => {
    const replies = client.ask({
      user_name: NAME,
      greeting: textOf("Generate a greeting", 50),
      client_roots: FOLDERS,
    });
    return `${replies.greeting.text} ${String(replies.user_name.content["name"])}: ${replies.client_roots.uris.join(" ")}`;
  }),
  askingFixture("test_input_required_result_multi_round", (client) => {
    const { step1 } = client.ask({ step1: form("Step 1: What is your name?", { name: { type: "string" } }) });
    const { step2 } = client.ask({
      step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }),
    });
    return `${String(step1.content["name"])} likes ${String(step2.content["color"])}.`;
  }),
  askingFixture("test_input_required_result_capabilities", (client) => {
    const all: Readonly<Record<string, Inquiry>> = {
      user_name: NAME,
      greeting: textOf("Generate a greeting"),
      client_roots: FOLDERS,
    };
    const possible = Object.entries(all).filter(([, { kind }]) => client.canAnswer(kind));
    return Object.keys(client.ask(Object.fromEntries(possible))).join(" ");
  }),
];

function describe({ action, content }: { readonly action: string; readonly content: object }): string {
  return `action=${action}, content=${JSON.stringify(content)}`;
}
