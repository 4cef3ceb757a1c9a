import { expect, it } from "vitest";
import wordpress from "../../../src/platforms/wordpress/index.ts";
import { RESTORED_STEP } from "../../../src/store/engine/ledger.ts";
import { endOf } from "../../support/contract/ends.ts";
import { queryOf } from "../../support/handles.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { openWordpress } from "./stage.ts";

const UNSEEN = { platform_post_id: null, published_at: null };

it.each([{}, { slug: "loud" }])(
  "finds a post again that went out after the copy was made that the database comes from: %j",
  async (metadata) => {
    await using stage = await openWordpress(wordpress);
    const { ctx } = stage;
    // Another one that had this slug before.
    stage.fake.site.create({ given: { title: "A horn", slug: "loud", status: "publish" } });
    await ctx.clock.advance(3_600_000);
    const said = JSON.stringify({ title: "A horn", ...metadata });
    const { id } = await addPost(ctx, stage.account, { metadata: said });
    const first = await endOf(stage, id);
    const db = queryOf(ctx.store);
    const [effect] = await db.selectFrom("effects").selectAll().execute();
    await db.deleteFrom("effects").execute();
    const suspect = { ...effect!, step: RESTORED_STEP, state: "done" as const, started_at: first.created_at };
    await db.insertInto("effects").values(suspect).execute();
    const before = { status: "scheduled", next_at: ctx.clock.now(), ...UNSEEN } as const;
    await db.updateTable("posts").set(before).where("id", "=", id).execute();
    expect(await endOf(stage, id)).toMatchObject({ status: "published", error: null });
    expect((await readPost(ctx, id)).platform_post_id).toBe(first.platform_post_id);
    expect(await stage.published()).toBe(2);
  },
);
