import { describe, expect, it } from "vitest";
import { finish } from "../../support/contract/ends.ts";
import { CLIP_URL } from "../../support/contract/stage-media.ts";
import { contentOf } from "../../support/contract/stage.ts";
import { addPost } from "../../support/publishing.ts";
import { toResponse } from "./fake-http.ts";
import { openPage } from "./world.ts";

describe("beside text and media, Facebook is told", () => {
  it("which background a text has, and where it was", async () => {
    await using world = await openPage();
    const metadata = { background: "106018623298955", locationId: "7640348500" };
    const content = contentOf({ caption: "Blow!", media_url: "", metadata });
    await finish(world.ctx, (await addPost(world.ctx, world.account, content)).id);
    expect([...world.fake.posts.posts.values()]).toMatchObject([
      { background: "106018623298955", place: "7640348500" },
    ]);
  });

  it("where a reel was, and who else made it, each once", async () => {
    await using world = await openPage();
    const metadata = { collaborators: ["8001", "8002"], locationId: "7640348500" };
    const content = contentOf({ caption: "Film", media_url: CLIP_URL, metadata });
    const row = await finish(world.ctx, (await addPost(world.ctx, world.account, content)).id);
    expect(row).toMatchObject({ status: "published", warnings: null });
    expect([...world.fake.films.films.values()]).toMatchObject([
      { place: "7640348500", invited: ["8001", "8002"] },
    ]);
  });

  it("whom it does not invite, without harm to the reel", async () => {
    await using world = await openPage();
    const metadata = { collaborators: ["8001"] };
    const content = contentOf({ caption: "Film", media_url: CLIP_URL, metadata });
    const refusal = { error: { code: 100, message: "Unknown Page" } };
    world.fake.answers = ({ url }) =>
      url.pathname.endsWith("/collaborators") ? toResponse(400, refusal) : null;
    const row = await finish(world.ctx, (await addPost(world.ctx, world.account, content)).id);
    expect(row.status).toBe("published");
    expect(row.warnings).toContain("The invitation of collaborators");
  });
});
