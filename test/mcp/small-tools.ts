import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { AppError } from "../../src/domain/errors.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { defineTool } from "../../src/toolkit/define-tool.ts";

const READING = { readOnly: true, destructive: false, idempotent: true, openWorld: false } as const;
const WRITING = { readOnly: false, destructive: true, idempotent: false, openWorld: true } as const;

/** What the tools below did, told to whoever watches. */
type Note = (event: string) => void;

/** Tools that show one trait of a call each. */
export function createSmallTools(note: Note = () => {}): AnyTool[] {
  return [
    defineTool({
      name: "echo",
      title: "Echo",
      permission: "read",
      description: 'Says it again. Example: {"text":"hello"}',
      hints: READING,
      input: z.strictObject({
        text: z.string().default("nothing").describe("What to say."),
        extra: z.record(z.string(), z.unknown()).optional().describe("Anything."),
      }),
      output: z.object({ text: z.string(), owner: z.string(), keyId: z.string() }),
      handle: async ({ text }, { caller }) => ({ text, owner: caller.ownerId, keyId: caller.keyId }),
    }),
    defineTool({
      name: "read_here",
      title: "Read here",
      permission: "publish",
      description: "Has a field for callers on this machine alone.",
      hints: WRITING,
      localFields: ["path"],
      input: z.strictObject({
        url: z.string().optional().describe("An address."),
        path: z.string().optional().describe("A file here."),
      }),
      output: z.object({}),
      handle: async () => ({}),
    }),
    defineTool({
      name: "refuse",
      title: "Refuse",
      permission: "publish",
      description: "Always refuses, with a sentence.",
      hints: WRITING,
      input: z.strictObject({ id: z.string().describe("Any id.") }),
      output: z.object({}),
      handle: async ({ id }) => {
        throw new AppError("not_found", `id: there is no post ${id}. Take ids from list_posts.`);
      },
    }),
    defineTool({
      name: "break",
      title: "Break",
      permission: "read",
      description: "Fails for a reason of ours.",
      hints: READING,
      input: z.strictObject({}),
      output: z.object({}),
      handle: async () => {
        throw new Error("the secret inside");
      },
    }),
    defineTool({
      name: "count",
      title: "Count",
      permission: "read",
      description: "Reports progress for each step.",
      hints: READING,
      input: z.strictObject({ to: z.int().describe("Steps.") }),
      output: z.object({ counted: z.int() }),
      handle: async ({ to }, { progress }) => {
        for (let step = 1; step <= to; step++) {
          progress(step, to, `Step ${step}`);
          // The clients drop progress that they read in one piece with the result, as one that has no turn does.
          await delay(step === to ? 250 : 25);
        }
        return { counted: to };
      },
    }),
    defineTool({
      name: "erase",
      title: "Erase",
      permission: "publish",
      description: "Asks first, except for trifles.",
      hints: WRITING,
      input: z.strictObject({ what: z.string().describe("What to erase.") }),
      output: z.object({ erased: z.string() }),
      question: async ({ what }) => (what === "a trifle" ? null : `Erase ${what}?`),
      handle: async ({ what }) => {
        note(`erased ${what}`);
        return { erased: what };
      },
    }),
    defineTool({
      name: "invite",
      title: "Invite",
      permission: "publish",
      description: "Answers an address for the person.",
      hints: WRITING,
      input: z.strictObject({}),
      output: z.object({ id: z.string(), url: z.string().nullable() }),
      link: ({ id, url }) =>
        url === null ? null : { url, message: "Open this page.", rest: { id, url: null } },
      handle: async () => {
        note("invited");
        return { id: "con_1", url: "https://posthorn.example/connect/secret" };
      },
    }),
    ...["interview", "interview_again"].map(createInterview),
    defineTool({
      name: "wait",
      title: "Wait",
      permission: "read",
      description: "Waits until it is cancelled, or for some milliseconds.",
      hints: READING,
      input: z.strictObject({ ms: z.int().default(3_600_000).describe("How long.") }),
      output: z.object({ waited: z.boolean() }),
      handle: ({ ms }, { signal }) =>
        new Promise((resolve, reject) => {
          note("waiting");
          const cancel = (): void => {
            clearTimeout(timer);
            note("cancelled");
            reject(new Error("cancelled"));
          };
          const timer = setTimeout(() => {
            signal.removeEventListener("abort", cancel);
            note("waited");
            resolve({ waited: true });
          }, ms);
          signal.addEventListener("abort", cancel);
        }),
    }),
  ];
}

/** Asks twice, the second time with what it heard. */
function createInterview(name: string): AnyTool {
  return defineTool({
    name,
    title: "Interview",
    permission: "read",
    description: "Asks the client's user two questions.",
    hints: READING,
    input: z.strictObject({}),
    output: z.object({ said: z.string() }),
    async handle(_args, { client }) {
      if (client === undefined) throw new AppError("conflict", "Call this over MCP.");
      const { name: person } = client.ask({ name: question("What is your name?") });
      if (person.action !== "accept") return { said: `Somebody (${person.action}).` };
      const who = String(person.content["value"]);
      const { colour } = client.ask({ colour: question(`What is your favourite colour, ${who}?`) });
      return { said: `${who} likes ${String(colour.content["value"])}.` };
    },
  });
}

function question(message: string) {
  return {
    kind: "form",
    message,
    schema: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
  } as const;
}
