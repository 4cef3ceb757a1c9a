import { listAccountRows } from "../../../src/store/queries/accounts.ts";
import ical from "ical.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import { openCalendarLink, revokeCalendarLink } from "../../../src/reporting/feeds/calendar-link.ts";
import { callOf, callerOf } from "../../support/context.ts";
import type { Answer } from "../../support/http.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { startService, type Service } from "../../support/service.ts";
import { queryOf } from "../../support/handles.ts";

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service[Symbol.asyncDispose]());

async function pathFor(ownerId = "default", isNew = false): Promise<string> {
  const { url } = await openCalendarLink(callOf(service.ctx, callerOf({ ownerId })), { isNew });
  expect(url).toMatch(/^http:\/\/localhost:\d+\/calendar\/[\w-]{43}\.ics$/);
  return new URL(url).pathname;
}

const read = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service.ask(`GET ${path}`, { key: null, headers });

function eventsOf({ text }: Answer): InstanceType<typeof ical.Event>[] {
  const calendar = new ical.Component(ical.parse(text));
  return calendar.getAllSubcomponents("vevent").map((event) => new ical.Event(event));
}

/** A post at so many days from now. */
async function plan(days: number, more: Parameters<typeof addPost>[2] = {}, ownerId = "default") {
  const name = "Café, the; channel";
  const known = (await listAccountRows(service.ctx.store, ownerId)).find((one) => one.name === name);
  const account = known ?? (await addAccount(service.ctx, { owner_id: ownerId, name, provider: "feed" }));
  const at = service.clock.now() + days * DAY;
  return addPost(service.ctx, account, { scheduled_at: at, due_at: at, ...more });
}

describe("the calendar feed", () => {
  it("is what a calendar reads: every post that is planned or out, in its words", async () => {
    const caption = `Fête 🎉; soldes, 50%\\off\r\n${"Größe 漢字 ".repeat(40)}\u0007\nBEGIN:VEVENT\nend`;
    const post = await plan(3, { caption });
    const titled = await plan(4, { caption: "Text", metadata: JSON.stringify({ title: "The title" }) });
    await plan(-2, { status: "published", platform_url: "https://example.com/a,b;c" });
    await plan(-1, { status: "failed", error: "It was refused.", caption: null });
    const answer = await read(await pathFor());
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/calendar; charset=utf-8"]);
    for (const line of answer.text.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(answer.text.replaceAll("\r\n", "")).not.toMatch(/\p{Cc}/u);

    const events = eventsOf(answer);
    expect(events.map((event) => event.component.getFirstPropertyValue("status"))).toEqual([
      ...["TENTATIVE", "TENTATIVE", "TENTATIVE", "CONFIRMED"],
    ]);
    const [second, first, failed, live] = events;
    expect(first!.uid).toBe(`${post.id}@posthorn`);
    expect(first!.startDate.toJSDate().toISOString()).toBe(new Date(post.scheduled_at).toISOString());
    expect(first!.summary).toMatch(/^Café, the; channel: Fête 🎉; soldes, 50%\\off Größe 漢字 .*…$/);
    expect(first!.description).toContain(caption.replace("\r\n", "\n").replace("\u0007", ""));
    expect(first!.description).toMatch(/^scheduled on Café, the; channel \(Feed\)\n/);
    expect(second!.uid).toBe(`${titled.id}@posthorn`);
    expect(second!.summary).toBe("Café, the; channel: The title");
    expect(failed!.summary).toBe("✗ Café, the; channel: Post without text");
    expect(failed!.description).toContain("It was refused.");
    expect(live!.component.getFirstPropertyValue("url")).toBe("https://example.com/a,b;c");
  });

  it("reaches from a month ago to half a year ahead, and leaves cancelled posts out", async () => {
    for (const days of [-31, -29, 179, 181]) await plan(days, { caption: `${days} days` });
    await plan(1, { status: "cancelled" });
    const events = eventsOf(await read(await pathFor()));
    expect(events.map((event) => event.summary.split(": ")[1])).toEqual(["179 days", "-29 days"]);
  });

  it("says when nothing has changed, and never so when something has", async () => {
    const post = await plan(1);
    const path = await pathFor();
    const first = await read(path);
    const etag = first.headers["etag"]!;
    expect(first.headers["last-modified"]).toBe(new Date(service.clock.now()).toUTCString());
    expect((await read(path, { "If-None-Match": etag })).status).toBe(304);
    expect((await read(path, { "If-Modified-Since": first.headers["last-modified"]! })).status).toBe(304);
    await service.clock.advance(60_000);
    await service.call("update_post", { id: post.id, caption: "Other words" });
    const second = await read(path, { "If-None-Match": etag });
    expect(second.status).toBe(200);
    expect(eventsOf(second).map((event) => [event.uid, event.summary])).toEqual([
      [`${post.id}@posthorn`, "Café, the; channel: Other words"],
    ]);
    expect((await read(path, { "If-Modified-Since": first.headers["last-modified"]! })).status).toBe(200);
  });

  it("belongs to one owner, and its address ends when it is revoked or made anew", async () => {
    await plan(1, { caption: "mine" });
    await plan(1, { caption: "theirs" }, "other");
    const [mine, theirs] = [await pathFor("default"), await pathFor("other")];
    expect(await pathFor("default")).toBe(mine);
    expect((await read(mine)).text).not.toContain("theirs");
    expect((await read(theirs)).text).not.toContain("mine");
    const renewed = await pathFor("default", true);
    expect([(await read(mine)).status, (await read(renewed)).status, (await read(theirs)).status]).toEqual([
      404, 200, 200,
    ]);
    await revokeCalendarLink(callOf(service.ctx));
    expect((await read(renewed)).status).toBe(404);
    await expect(revokeCalendarLink(callOf(service.ctx))).rejects.toThrow(/no calendar address/);
    for (const path of [
      "/calendar/x.ics",
      "/calendar/",
      "/calendar/..%2f.ics",
      `${theirs.slice(0, -4)}.html`,
    ]) {
      expect((await read(path)).status).toBe(404);
    }
  });

  it("keeps its token out of the log and, readable, out of the database", async () => {
    const path = await pathFor();
    await read(path);
    const token = /calendar\/(.*)\.ics/.exec(path)![1]!;
    expect(service.log.text()).not.toContain(token);
    expect(
      JSON.stringify(await queryOf(service.ctx.store).selectFrom("calendar_links").selectAll().execute()),
    ).not.toContain(token);
    expect(JSON.stringify(await service.call("list_accounts", {}, callerOf()))).not.toContain(token);
  });
});
