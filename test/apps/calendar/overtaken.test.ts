import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { App } from "../../../apps/features/calendar/app.ts";
import { movePost } from "../../../apps/features/calendar/post-work.ts";
import type { ToolAnswer } from "../../../apps/shared/bridge.ts";
import { Host } from "../../../apps/shared/host.ts";
import { type Json, textOf } from "../../../apps/shared/json.ts";

const BEGIN = "2026-11-24T08:00:00.000Z";

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-20T08:00:00Z") }));
afterAll(() => void vi.useRealTimers());

const answer = (structured: Json): ToolAnswer => ({ isError: false, text: "", note: null, structured });

/** A calendar over a server with one post. Answers of `show_calendar` wait for `release` once `isSlow` is true. */
async function openCalendar() {
  const server = { scheduledAt: BEGIN, updatedAt: "1", isSlow: false, release: () => {} };
  const complaints: string[] = [];
  const undos: (() => void)[] = [];
  const post = () => ({
    id: "post_1",
    accountId: "acc_1",
    provider: "feed",
    status: "scheduled",
    scheduledAt: server.scheduledAt,
    updatedAt: server.updatedAt,
    caption: "Hello world",
  });
  const calendarOf = ({ from, to }: Json): ToolAnswer => {
    const [first, last] = [`${textOf(from)}T00:00:00.000Z`, `${textOf(to)}T23:59:59.999Z`];
    const posts = server.scheduledAt >= first && server.scheduledAt <= last ? [post()] : [];
    return answer({ posts, drafts: [], freeSlots: [], series: [], from: first, to: last, timezone: "UTC" });
  };
  const callTool = async (name: string, args: Json): Promise<ToolAnswer> => {
    if (name === "get_post") return answer({ post: post() });
    if (name === "update_post") {
      if (args["ifUpdatedAt"] !== server.updatedAt)
        return { isError: true, text: "It was changed since.", note: null, structured: null };
      server.scheduledAt = textOf(args["scheduledAt"]);
      server.updatedAt += "1";
      return answer({ post: post() });
    }
    const read = calendarOf(args);
    if (server.isSlow) await new Promise<void>((resolve) => (server.release = resolve));
    return read;
  };
  const app = new App(new Host(null), {
    mayMove: true,
    onMoved: (_, __, undo) => undos.push(undo),
    onComplaint: (sentence) => complaints.push(sentence),
  });
  const abilities = { callsTools: true, opensLinks: true, takesContext: true };
  app.begin(
    { callTool, openLink: vi.fn(), requestMode: vi.fn(), updateModel: async () => {} },
    abilities,
    {},
  );
  await app.start("UTC", "month", "2026-11-24");
  return { app, server, undos, complaints };
}

const OTHER = "2026-11-27T15:00:00.000Z";
const EARLIER = "2026-11-20T08:00:00.000Z";
const LATER = "2026-11-20T08:00:01.000Z";
const changeElsewhere = (server: { scheduledAt: string; updatedAt: string }, scheduledAt: string): void =>
  void Object.assign(server, { scheduledAt, updatedAt: `${server.updatedAt}2` });

it("has a post that was moved while the days it goes to were read, and takes it back from there", async () => {
  const { app, server, undos } = await openCalendar();
  const shown = (): string[] =>
    app.state!.calendar.posts.map(({ scheduledAt }) => new Date(scheduledAt).toISOString());
  expect(shown()).toEqual([BEGIN]);
  server.isSlow = true;
  const turned = app.step(1);
  await Promise.resolve();
  // The answer that is under way was read before this.
  server.isSlow = false;
  await movePost(app, "post_1", { day: "2026-12-22", minutes: 480 });
  server.release();
  await turned;
  expect(shown()).toEqual(["2026-12-22T08:00:00.000Z"]);
  undos[0]!();
  await vi.waitFor(() => expect(server.scheduledAt).toBe(BEGIN));
});

it("takes a move back from days that do not hold the post", async () => {
  const { app, server, undos } = await openCalendar();
  await movePost(app, "post_1", { day: "2026-11-30", minutes: 480 });
  await app.show("month", "2027-03-01");
  expect(app.state!.calendar.posts).toEqual([]);
  undos[0]!();
  await vi.waitFor(() => expect(server.scheduledAt).toBe(BEGIN));
});

it("keeps a post that is being saved when days are read that do not hold it yet", async () => {
  const { app, server } = await openCalendar();
  server.isSlow = true;
  const turned = app.step(1);
  await Promise.resolve();
  const [post] = app.state!.calendar.posts;
  const scheduledAt = Date.parse("2026-12-22T08:00:00Z");
  app.update({
    busy: new Map([["post_1", "Saving…"]]),
    calendar: { ...app.state!.calendar, posts: [{ ...post!, scheduledAt }] },
  });
  server.release();
  await turned;
  expect(app.state!.calendar.posts.map((one) => one.scheduledAt)).toEqual([scheduledAt]);
});

it("takes back no move that others made meanwhile, and says where the post is", async () => {
  const { app, server, undos, complaints } = await openCalendar();
  changeElsewhere(server, OTHER);
  await movePost(app, "post_1", { day: "2026-11-30", minutes: 480 });
  expect(server.scheduledAt).toBe(OTHER);
  expect(complaints).toEqual([
    expect.stringMatching(/^Nothing was done: .*Friday,? 27 November 2026, 15:00\.$/),
  ]);
  // The plan was read anew: now it is moved from there.
  const shown = app.state!.calendar.posts.map(({ scheduledAt }) => scheduledAt);
  expect(shown).toEqual([Date.parse(OTHER)]);
  await movePost(app, "post_1", { day: "2026-11-30", minutes: 480 });
  expect(server.scheduledAt).toBe("2026-11-30T08:00:00.000Z");
  changeElsewhere(server, OTHER);
  await app.reload(true);
  undos[0]!();
  await vi.waitFor(() => expect(complaints).toHaveLength(2));
  expect(server.scheduledAt).toBe(OTHER);
});

it("moves a post of which others changed something else", async () => {
  const { app, server, undos, complaints } = await openCalendar();
  changeElsewhere(server, BEGIN);
  await movePost(app, "post_1", { day: "2026-11-30", minutes: 480 });
  changeElsewhere(server, server.scheduledAt);
  undos[0]!();
  await vi.waitFor(() => expect(server.scheduledAt).toBe(BEGIN));
  expect(complaints).toEqual([]);
});

it("asks for no time that has passed, and says where the post stays", async () => {
  const { app, server, complaints } = await openCalendar();
  await movePost(app, "post_1", { day: "2026-11-19", minutes: 480 });
  expect(server.scheduledAt).toBe(BEGIN);
  expect(complaints).toEqual([
    expect.stringMatching(/^That time has passed\. The post stays at Tuesday,? 24 November 2026, 08:00\.$/),
  ]);
});

it("shows what an answer about a post said, and no older reading undoes it", async () => {
  const { app, server } = await openCalendar();
  const statuses = (): string[] => app.state!.calendar.posts.map(({ status }) => status);
  const [post] = app.state!.calendar.posts;
  const known = new Map([["post_1", { ...post!, status: "failed" as const, updatedAt: LATER }]]);
  Object.assign(server, { updatedAt: EARLIER });
  await app.reload(true);
  app.takePosts(known);
  expect(statuses()).toEqual(["failed"]);
  await app.reload(true);
  app.takePosts(known);
  expect(statuses()).toEqual(["failed"]);
});

it("reads anew what is being read when it is told that something changed", async () => {
  const { app, server } = await openCalendar();
  server.isSlow = true;
  const turned = app.step(1);
  await Promise.resolve();
  server.isSlow = false;
  server.scheduledAt = "2026-12-22T08:00:00.000Z";
  await app.reload(true);
  server.release();
  await turned;
  expect(app.state!.calendar.posts.map(({ scheduledAt }) => scheduledAt)).toEqual([
    Date.parse("2026-12-22T08:00:00.000Z"),
  ]);
});
