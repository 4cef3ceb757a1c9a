import { describe, expect, it } from "vitest";
import { changeAsSeen, OtherThanSeen } from "../../../apps/features/post/as-seen.ts";

const SEEN = { status: "scheduled", scheduledAt: "2026-11-24T08:00:00.000Z", caption: "Old", updatedAt: "1" };

/** A server that takes a change only of what it has. */
function server(now: typeof SEEN, others: readonly Partial<typeof SEEN>[] = []) {
  const left = [...others];
  let post = now;
  const tries: string[] = [];
  const how = {
    fields: ["status", "scheduledAt"],
    change: async (ifUpdatedAt: string): Promise<string> => {
      tries.push(ifUpdatedAt);
      if (ifUpdatedAt !== post.updatedAt) {
        const answer = Error("The post was changed since it was read.");
        throw answer;
      }
      return "done";
    },
    read: async () => {
      const read = post;
      post = { ...post, ...left.shift() };
      return read;
    },
    when: (ms: number) => `day ${new Date(ms).getUTCDate()}`,
  } as const;
  return { how, tries };
}

describe("a change of a post as it was seen", () => {
  it("is made where nobody changed it", async () => {
    const { how, tries } = server(SEEN);
    expect(await changeAsSeen(SEEN, how)).toBe("done");
    expect(tries).toEqual(["1"]);
  });

  it("is made where others changed something else, however often", async () => {
    const changes = [{ caption: "Newer", updatedAt: "3" }];
    const { how, tries } = server({ ...SEEN, caption: "New", updatedAt: "2" }, changes);
    expect(await changeAsSeen(SEEN, how)).toBe("done");
    expect(tries).toEqual(["1", "2", "3"]);
  });

  it.each([
    [{ scheduledAt: "2026-11-30T08:00:00.000Z" }, "Changed meanwhile: the time. The time is now day 30."],
    [{ status: "published" }, "It has the state “Published” now."],
    [{ status: "cancelled" }, "It has the state “Cancelled” now."],
  ])("is refused where others changed it: %j", async (change, words) => {
    const { how, tries } = server({ ...SEEN, ...change, updatedAt: "2" });
    const answer = changeAsSeen({ ...SEEN }, how);
    await expect(answer).rejects.toThrow(OtherThanSeen);
    await expect(answer).rejects.toThrow(`Nothing was done: the post was changed elsewhere. ${words}`);
    expect(tries).toEqual(["1"]);
  });

  it("says what others changed, and is made by one who was told", async () => {
    const changed = { ...SEEN, caption: "New", metadata: { title: "A", moreMedia: [] }, updatedAt: "2" };
    const { how } = server(changed);
    const fields = ["status", "scheduledAt", "caption", "metadata"] as const;
    const seen = { ...SEEN, metadata: { title: "B" } };
    const refusal: unknown = await changeAsSeen(seen, { ...how, fields }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      message:
        "Nothing was done: the post was changed elsewhere. " +
        "Changed meanwhile: the text, the title, the pictures. The text is now “New”.",
      post: changed,
    });
    expect(await changeAsSeen(seen, { ...how, fields })).toBe("done");
  });

  it("tells its own refusal where nobody changed the post, or it cannot be read", async () => {
    const refused = { fields: [], change: () => Promise.reject(Error("No.")), when: String };
    await expect(changeAsSeen(SEEN, { ...refused, read: async () => SEEN })).rejects.toThrow("No.");
    const silent = { ...refused, read: () => Promise.reject(Error("Silent.")) };
    await expect(changeAsSeen(SEEN, silent)).rejects.toThrow("No.");
  });
});
