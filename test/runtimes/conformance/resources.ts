import type { PromptKind } from "../../../src/mcp/kinds.ts";
import { addressOf, jsonContents, type ResourceKind } from "../../../src/mcp/kinds.ts";
import { PNG } from "./tools.ts";

const TEMPLATE: ResourceKind = {
  uri: "test://template/{id}/data",
  name: "template",
  title: "A template",
  description: "Says which one it is.",
  mimeType: "application/json",
  read: async (id) =>
    jsonContents(addressOf(TEMPLATE, id), { id, templateTest: true, data: `Data for ID: ${id}` }),
};

export const FIXED_RESOURCES: readonly ResourceKind[] = [
  fixed("test://static-text", "text/plain", { text: "This is the content of the static text resource." }),
  fixed("test://static-binary", "image/png", { blob: PNG }),
  fixed("test://watched-resource", "text/plain", { text: "Always the same." }),
  TEMPLATE,
];

function fixed(
  uri: string,
  mimeType: string,
  body: { readonly text: string } | { readonly blob: string },
): ResourceKind {
  const about = {
    uri,
    name: uri.replace("test://", ""),
    title: uri,
    description: "Never changes.",
    mimeType,
  };
  return { ...about, list: async () => [about], read: async () => ({ uri, mimeType, ...body }) };
}

const ARGUMENT = { description: "What the suite passes.", required: true };

export const FIXED_PROMPTS: readonly PromptKind[] = [
  prompt("test_simple_prompt", [], async () => [
    user({ type: "text", text: "This is a simple prompt for testing." }),
  ]),
  prompt("test_prompt_with_arguments", ["arg1", "arg2"], async ({ arg1, arg2 }) => [
    user({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  ]),
  prompt("test_prompt_with_embedded_resource", ["resourceUri"], async ({ resourceUri = "" }) => [
    user({
      type: "resource",
      resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
    }),
    user({ type: "text", text: "Please process the embedded resource above." }),
  ]),
  prompt("test_prompt_with_image", [], async () => [
    user({ type: "image", data: PNG, mimeType: "image/png" }),
    user({ type: "text", text: "Please analyze the image above." }),
  ]),
  // The suite leaves the argument out; whoever gets a prompt is asked for what is missing.
  prompt("test_input_required_result_prompt", ["context"], async ({ context }) => [
    user({ type: "text", text: `Work in this context: ${context}` }),
  ]),
];

type Messages = Awaited<ReturnType<PromptKind["messages"]>>;

function prompt(name: string, args: readonly string[], messages: PromptKind["messages"]): PromptKind {
  const about = {
    name,
    title: name,
    description: "Shows one trait of the protocol to its conformance suite.",
  };
  return { ...about, arguments: args.map((argument) => ({ name: argument, ...ARGUMENT })), messages };
}

function user(content: Messages[number]["content"]): Messages[number] {
  return { role: "user", content };
}
