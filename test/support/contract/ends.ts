import { expect } from "vitest";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import type { AppContext } from "../../../src/context.ts";
import type { TestContext } from "../context.ts";
import { drain, readPost } from "../publishing.ts";
import type { Stage } from "./stage.ts";

/**
 * Works on what is due, moving the clock to the next try, until nothing more is to come of the post. `worker`:
 * the context that works on it, where it is another than the one that is looked through. `isEnough`: the post
 * is left as it is.
 */
export async function finish(
  ctx: TestContext,
  id: string,
  worker: AppContext = ctx,
  isEnough: () => Promise<boolean> = async () => false,
): Promise<PostRow> {
  for (let round = 0; round < 80; round += 1) {
    await drain(worker);
    const post = await readPost(ctx, id);
    if (post.next_at === null || (await isEnough())) return post;
    await ctx.clock.advance(Math.max(post.next_at - ctx.clock.now(), 1_000));
  }
  const { status, error } = await readPost(ctx, id);
  throw new Error(`The post did not come to an end: ${status}, ${error}`);
}

/** The same on a stage. A platform that was asked wrongly says so before anything is made of what it answered. */
export async function endOf(
  stage: Stage,
  id: string,
  ...more: [worker?: AppContext, isEnough?: () => Promise<boolean>]
): Promise<PostRow> {
  const row = await finish(stage.ctx, id, ...more);
  expectAskedRightly(stage);
  return row;
}

export function expectAskedRightly({ wrong = [] }: Pick<Stage, "wrong">): void {
  if (wrong.length > 0) throw new Error(`The platform was asked wrongly: ${wrong.join("; ")}`);
}

/** It is there once; on a platform that cannot tell, at most once, and a person is asked to look. */
export async function expectOnce(stage: Stage, id: string, place: string): Promise<void> {
  expectAskedRightly(stage);
  const { status, error } = await readPost(stage.ctx, id);
  const shown = await stage.published();
  if (stage.isBlind === true && status === "failed") {
    expect([place, error, shown <= 1]).toEqual([place, expect.stringMatching(/^outcome unknown: /), true]);
    return;
  }
  expect([place, status, error, shown]).toEqual([place, "published", null, 1]);
}
