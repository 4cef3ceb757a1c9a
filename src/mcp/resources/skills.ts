import { hash } from "node:crypto";
import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import * as z from "zod";
import { quote } from "../../domain/text/plain-text.ts";
import { LIST_CACHE_MS } from "../limits.ts";
import type { ResourceKind } from "../kinds.ts";
import { readSkillText } from "./skill-text.ts";

/* The extension io.modelcontextprotocol/skills (SEP-2640): how to use this server, in one file. */

const URI = "skill://posthorn/SKILL.md";

/** The same for every key. */
const CACHE = { ttlMs: LIST_CACHE_MS, cacheScope: "public" } as const;

const Frontmatter = z.looseObject({ name: z.string(), description: z.string() });

async function readSkill() {
  const text = await readSkillText();
  const [, head = ""] = text.split("---\n");
  const lines = head.trim().split("\n");
  // Its values are plain: one line each, without quotes.
  const fields = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
  const digest = `sha256:${hash("sha256", text)}`;
  const file = { uri: URI, digest, size: Buffer.byteLength(text) };
  return { uri: URI, frontmatter: Frontmatter.parse(Object.fromEntries(fields)), resources: [file] };
}

export const SKILL_RESOURCE: ResourceKind = {
  uri: URI,
  name: "posthorn",
  title: "How to use Posthorn",
  description: "The skill for agents: ways across tools, errors, conversations.",
  mimeType: "text/markdown",
  async list() {
    const { name, description } = (await readSkill()).frontmatter;
    return [{ uri: URI, name, title: SKILL_RESOURCE.title, description, mimeType: "text/markdown" }];
  },
  read: async () => ({ uri: URI, mimeType: "text/markdown", text: await readSkillText() }),
};

export function serveSkills(server: Server): void {
  const Page = z.looseObject({ cursor: z.string().optional() }).optional();
  server.setRequestHandler("skills/list", { params: Page }, async (params) => {
    if (params?.cursor === undefined) return { skills: [await readSkill()], ...CACHE };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list of skills is one page.");
  });
  server.setRequestHandler("skills/get", { params: z.looseObject({ uri: z.string() }) }, async ({ uri }) => {
    if (uri === URI) return { skill: await readSkill(), ...CACHE };
    const reason = `uri: there is no skill ${quote(uri)}. The skill is ${URI}.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, reason);
  });
}
