import { afterEach, beforeEach, expect, it } from "vitest";
import { queryOf } from "../support/handles.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service[Symbol.asyncDispose]());

it("an empty id is none, in one sentence whatever it is of", async () => {
  const required = service.tools.flatMap(({ name, input }) =>
    Object.entries<any>(input.shape)
      .filter(([field, schema]) => /^(?:id|[a-z]+Id)$/.test(field) && !schema.safeParse(undefined).success)
      .map(([field]) => [name, field] as const),
  );
  expect(required.length).toBeGreaterThan(10);
  for (const [tool, field] of required)
    await expect(service.call(tool, { [field]: "" }), tool).rejects.toThrow(`${field}: is required.`);
});

it("an empty dry run is left out, and the answer of what was done for real says so", async () => {
  const accountId = await service.addFeed();
  const scheduledAt = new Date(service.clock.now() + 86_400_000).toISOString();
  const post = { accountId, caption: "Hello", scheduledAt };
  for (const dryRun of ["", null]) {
    const told = "dryRun came empty, which counts as left out, so this was done.";
    const { post: made, warnings } = await service.call("schedule_post", { ...post, dryRun });
    expect(made.id).not.toBe("");
    expect(warnings).toContain(told);
    const { results } = await service.call("schedule_posts", { posts: [post], dryRun });
    expect(results[0].warnings).toContain(told);
    const id = made.id;
    expect((await service.call("update_post", { id, caption: "Other", dryRun })).warnings).toContain(told);
    const move = { ids: [id], shiftMinutes: 5, dryRun };
    expect((await service.call("change_posts", move)).warnings).toContain(told);
    await queryOf(service.ctx.store)
      .updateTable("posts")
      .set({ status: "failed", next_at: null })
      .where("id", "=", id)
      .execute();
    expect((await service.call("retry_post", { id, dryRun })).warnings).toContain(told);
  }
});
