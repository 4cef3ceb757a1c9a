import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR } from "../../src/domain/time.ts";
import { readPost } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";

/* What came empty out of a look-up that failed never makes a change reach further than it was meant to. */

let service: Service;
let accountId: string;
let ids: string[];
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
  ids = [await schedule(accountId), await schedule(await service.addFeed())];
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

async function schedule(channel: string): Promise<string> {
  const args = { accountId: channel, scheduledAt: at(HOUR), caption: "Hello", labels: ["launch"] };
  return (await service.call("schedule_post", args)).post.id;
}

/** Fields that say which things there are, in any tool. */
const CHOOSING =
  /^(?:ids?|accountIds?|provider|labels?|status|state|from|to|since|events|search|postIds?|deliveryId)$/;

const FILTERS = ["ids", "accountId", "label", "from", "to"];

it("walks every tool that changes something", () => {
  const optional = service.tools
    .filter(({ hints }) => !hints.readOnly)
    .map(({ name, input }) => {
      const fields = Object.entries<any>(input.shape).filter(
        ([field, schema]) => CHOOSING.test(field) && schema.safeParse(undefined).success,
      );
      return [name, fields.map(([field]) => field)] as const;
    })
    .filter(([, fields]) => fields.length > 0);
  expect(Object.fromEntries(optional)).toEqual({
    change_posts: FILTERS,
    // What follows acts on nothing that is there: the rest is one new thing, and its answer shows what it is.
    connect_channel: ["provider", "accountId"],
    create_webhook: ["events", "accountId", "accountIds"],
    decide_draft: ["id"],
    import_posts: ["accountId"],
    replay_webhook: ["deliveryId", "since"],
    save_draft: ["id", "labels"],
    schedule_post: ["labels"],
  });
});

describe("a change of several posts", () => {
  const whole = (): Record<string, unknown> => ({ from: at(0), to: at(2 * HOUR), cancel: true });

  it.each(FILTERS.flatMap((field) => [null, ""].map((empty) => [field, empty] as const)))(
    "is refused where %s is %j",
    async (field, empty) => {
      const args = { ...whole(), [field]: empty };
      await expect(service.call("change_posts", args)).rejects.toThrow(`${field}: `);
      for (const id of ids) expect(await readPost(service.ctx, id)).toMatchObject({ status: "scheduled" });
    },
  );

  it("names all that came empty, and says so of what is only shown", async () => {
    const args = { ...whole(), accountId: "", label: null };
    await expect(service.call("change_posts", args)).rejects.toThrow(
      "accountId, label: are empty, which count as left out, so more posts would change than may be meant. Give a value, or leave the field out.",
    );
    const { changed, warnings } = await service.call("change_posts", { ...args, dryRun: true });
    expect(changed).toHaveLength(2);
    expect(warnings).toContain(
      "accountId, label: are empty, which count as left out. Without dryRun that is refused: give a value, or leave the field out.",
    );
  });

  it("goes by ids whatever else is empty", async () => {
    const args = { ids: ids.slice(0, 1), accountId: null, label: "", from: null, cancel: true };
    expect((await service.call("change_posts", args)).changed).toHaveLength(1);
    expect(await readPost(service.ctx, ids[1] ?? "")).toMatchObject({ status: "scheduled" });
  });
});
