import { createReadStream } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { createMcpEndpoints } from "../../src/mcp/transports/endpoints.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { FakeClock } from "./clock.ts";
import { callOf } from "./context.ts";
import { queryOf } from "./handles.ts";
import { startTestServer } from "./http.ts";
import { addAccount, addPosts } from "./post-rows.ts";
import { startService, type Service } from "./service.ts";

/** What a person asks an agent, and what it calls. */
interface Conversation {
  readonly asked: string;
  /** Plays it, call by call, as one who reads each answer before the next. */
  play(call: Call, service: Service): Promise<void>;
}

type Call = (tool: string, args: Readonly<Record<string, unknown>>) => Promise<any>;

interface Answer {
  readonly tool: string;
  /** Of the text that the model reads. */
  readonly bytes: number;
  readonly isError: boolean;
}

export interface Played {
  readonly asked: string;
  readonly answers: readonly Answer[];
}

/** Those that take posts without media first. */
const CHANNELS = [
  "feed",
  "mastodon",
  "bluesky",
  "linkedin",
  "facebook",
  "telegram",
  "x",
  "instagram",
  "youtube",
  "discord",
] as const;

const TEXT_CHANNELS = 7;

const TEXT =
  "We open the doors of our new shop in the old harbour on Friday at nine. Come and see us! #opening #harbour";

const idOf = (at: number): string => `post_01kaj0c0v8m2t4r5x6y7z8${String(at).padStart(4, "0")}`;

/** As long as a real one. */
const accountOf = (at: number): string => `acc_01kaj0c0v8m2t4r5x6y7z8${String(at).padStart(4, "0")}`;

/** Ten channels, and 200 posts of the weeks around Friday, 27 November 2026. */
async function fill({ ctx }: Service): Promise<void> {
  for (const [at, provider] of CHANNELS.entries())
    await addAccount(ctx.store, { id: accountOf(at), provider, name: `Harbour shop on ${provider}` });
  const now = ctx.clock.now();
  await addPosts(
    ctx.store,
    Array.from({ length: 200 }, (_, at) => {
      const scheduledAt = now + (at - 120) * 3 * 3_600_000;
      const channel = at % TEXT_CHANNELS;
      const ended = at % 20 === 0 ? "failed" : "published";
      return {
        id: idOf(at),
        accountId: accountOf(channel),
        provider: CHANNELS[channel] ?? "feed",
        caption: `${TEXT} (${at})`,
        scheduledAt,
        status: scheduledAt > now ? "scheduled" : ended,
      } as const;
    }),
  );
  await queryOf(ctx.store)
    .updateTable("posts")
    .set({ platform_post_id: "1" })
    .where("status", "=", "published")
    .execute();
  await queryOf(ctx.store)
    .updateTable("posts")
    .set({
      error: `Instagram refused it: "The aspect ratio is not supported." Give a picture between 4:5 and 1.91:1, and send it again.`,
    })
    .where("status", "=", "failed")
    .execute();
  await queryOf(ctx.store)
    .updateTable("accounts")
    .set({ status: "reconnect_required", status_reason: "The access token was withdrawn. Connect it again." })
    .where("provider", "in", ["telegram", "discord"])
    .execute();
}

const picture = async (service: Service): Promise<string> => {
  const body = createReadStream(new URL("../fixtures/photo.png", import.meta.url));
  const about = { name: "photo.png", altText: "The new shop in the old harbour" };
  return (await storeUpload(callOf(service.ctx), { ...about, body })).file.id;
};

export const CONVERSATIONS: readonly Conversation[] = [
  {
    asked: "This picture tomorrow at nine on Mastodon and Bluesky, with different texts",
    async play(call, service) {
      await call("list_accounts", {});
      await call("upload_file", {});
      const mediaUrl = await picture(service);
      await call("save_draft", {
        caption: TEXT,
        mediaUrl,
        metadata: { altText: "The new shop in the old harbour" },
        targets: [{ accountId: "mastodon" }, { accountId: "bluesky", caption: "Open from Friday!" }],
        scheduledAt: "2026-11-26T09:00",
        submit: true,
      });
    },
  },
  {
    asked: "What failed this week, and why?",
    async play(call) {
      const { posts } = await call("list_posts", { status: ["failed"], from: "2026-11-20" });
      await call("get_post", { id: posts[0].id, history: true });
    },
  },
  {
    asked: "Move all posts of Friday one hour later",
    async play(call) {
      const change = { from: "2026-11-27", to: "2026-11-27", shiftMinutes: 60 };
      await call("change_posts", { ...change, dryRun: true });
      await call("change_posts", change);
    },
  },
  {
    asked: "Cancel everything on X",
    async play(call) {
      await call("change_posts", { accountId: ["x"], cancel: true, dryRun: true });
      await call("change_posts", { accountId: ["x"], cancel: true });
    },
  },
  {
    asked: "Make a thread of tomorrow's post on Mastodon",
    async play(call) {
      const { posts } = await call("show_calendar", {
        accountId: ["mastodon"],
        status: ["scheduled"],
        limit: 1,
      });
      await call("list_platforms", { provider: ["mastodon"] });
      const thread = [{ caption: "Coffee is free on the first day." }, { caption: "See you there!" }];
      await call("update_post", { id: posts[0].id, metadata: { thread } });
    },
  },
  {
    asked: "Draft five posts for next week, and let me look first",
    async play(call) {
      await call("list_accounts", {});
      for (let day = 1; day <= 5; day += 1)
        await call("save_draft", {
          caption: `${TEXT} (day ${day})`,
          targets: [{ accountId: "mastodon" }, { accountId: "bluesky" }],
          scheduledAt: `2026-12-0${day}T09:00`,
          submit: true,
        });
    },
  },
  {
    asked: "Post the best of the last three on the feed again",
    async play(call) {
      const filter = { accountId: ["feed"], status: ["published"], limit: 3 };
      const { posts } = await call("list_posts", filter);
      for (const { id } of posts) await call("get_post", { id, insights: true });
      await call("schedule_post", {
        accountId: "feed",
        caption: posts[0].caption,
        scheduledAt: "2026-11-30T09:00",
      });
    },
  },
  {
    asked: "Delete the post that went out by mistake",
    async play(call) {
      const { posts } = await call("list_posts", { accountId: ["feed"], status: ["published"], limit: 5 });
      await call("cancel_post", { id: posts[0].id, fromPlatform: true });
    },
  },
  {
    asked: "Which channels must be reconnected?",
    async play(call) {
      const { accountsToReconnect } = await call("get_status", {});
      for (const { id, provider } of accountsToReconnect)
        await call("connect_channel", { provider, accountId: id });
    },
  },
  {
    asked: "A month from this table of 30 rows",
    async play(call) {
      const posts = Array.from({ length: 30 }, (_, at) => ({
        accountId: CHANNELS[at % 3] ?? "feed",
        caption: `${TEXT} (row ${at})`,
        scheduledAt: `2026-12-${String(at + 1).padStart(2, "0")}T17:30`,
      }));
      await call("schedule_posts", { posts: posts.map((post) => ({ ...post, dryRun: true })) });
      await call("schedule_posts", { posts, atomic: true });
    },
  },
];

/** By the rule of thumb of four bytes a token. */
export const tokensOf = ({ answers }: Played): number =>
  Math.ceil(answers.reduce((sum, { bytes }) => sum + bytes, 0) / 4);

/** Each on a service of its own, over MCP, as a client that reads the text of the answers. */
export async function playConversation({ asked, play }: Conversation): Promise<Played> {
  await using service = await startService({}, { clock: new FakeClock("2026-11-25T10:00:00Z") });
  await fill(service);
  const { ctx, tools } = service;
  const mcp = createMcpEndpoints({ toolbox: createToolbox(ctx, tools), ctx, version: "1.2.3" });
  await using server = await startTestServer(ctx, tools, { mcp });
  const key = await server.keyFor("default");
  const client = new Client({ name: "conversations", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.port}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
  );
  const answers: Answer[] = [];
  const call: Call = async (tool, args) => {
    const { content, structuredContent, isError } = await client.callTool({ name: tool, arguments: args });
    const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    answers.push({ tool, bytes: Buffer.byteLength(texts.join("\n")), isError: isError === true });
    return structuredContent ?? {};
  };
  await play(call, service);
  await client.close();
  await mcp.close();
  return { asked, answers };
}
