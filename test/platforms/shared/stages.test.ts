import { describe, expect, it } from "vitest";
import { endOf } from "../../support/contract/ends.ts";
import { readStage } from "../../support/contract/read-stage.ts";
import { createStageMedia } from "../../support/contract/stage-media.ts";
import { createTestContext } from "../../support/context.ts";
import { describedBy } from "../../support/described.ts";
import { addAccount, addPost } from "../../support/publishing.ts";

describe("a stage", () => {
  it("that is missing is told by its file", async () => {
    await expect(readStage("photobox")).rejects.toThrow(
      "photobox has no stage: write test/platforms/photobox/stage.ts.",
    );
  });

  it("says what was asked wrongly before what became of the post", async () => {
    await using ctx = await createTestContext({ media: createStageMedia() });
    const account = await addAccount(ctx);
    const { id } = await addPost(ctx, account);
    const stage = { ctx, account, wrong: ["There is no POST /poste."] };
    await expect(endOf(stage as never, id)).rejects.toThrow("asked wrongly: There is no POST /poste.");
  });
});

describe("describedBy", () => {
  it("fills every {…} of a path, whatever a description calls it", async () => {
    const read = describedBy({
      source: "invented",
      ids: { "team.id": "\\d+" },
      operations: { "GET /teams/{team.id}/users/{user-id}/posts/{post_id}": {} },
    });
    const ask = (path: string) =>
      read({ method: "GET", url: `https://a.example${path}` }, "https://a.example");
    expect(await ask("/teams/7/users/ann/posts/p_1")).toMatchObject({ id: "7", ids: ["7", "ann", "p_1"] });
    expect(await ask("/teams/x/users/ann/posts/p_1")).toMatch(/^There is no/);
  });
});
