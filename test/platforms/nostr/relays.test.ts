import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import nostr from "../../../src/platforms/nostr/index.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import type { Socket, Sockets } from "../../../src/ports/sockets.ts";
import { expectOnce, finish } from "../../support/contract/ends.ts";
import { contentOf, type StagePost } from "../../support/contract/stage.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import fixture, { openNostr } from "./stage.ts";
import { RELAYS } from "./fake.ts";

const TEXT: StagePost = { caption: "A horn", media_url: "", metadata: {} };

type Spoil = (socket: Socket) => Socket;

const lost = async (): Promise<never> => {
  throw new OutboundFailure("It broke off.", true);
};

/** What one conversation meets; null: it does not begin. */
const TROUBLES: Readonly<Record<string, Spoil | null>> = {
  "does not begin": null,
  "is acted on, and its answer is lost": (socket) => ({ ...socket, receive: lost }),
  "is lost on its way": (socket) => ({ ...socket, send: lost }),
  "ends without an answer": (socket) => ({ ...socket, receive: async () => null }),
  "is not understood": (socket) => {
    const words = ["[", "{}", '["OK"]', '["NOTICE","?"]', '["OK","x",true,""]'];
    return { ...socket, receive: async () => words.shift() ?? socket.receive() };
  },
};

function troubled(
  sockets: Sockets,
  at: { index: number; spoil: Spoil | null },
): Sockets & { count(): number } {
  let count = 0;
  return {
    count: () => count,
    async converse(request, work) {
      const isHere = count++ === at.index;
      if (isHere && at.spoil === null) throw new OutboundFailure("Nobody answers.", false);
      return sockets.converse(request, (socket) => work(isHere ? (at.spoil?.(socket) ?? socket) : socket));
    },
  };
}

const posts = { "a whole post": fixture.post, "a text": TEXT };
const cases = Object.entries(posts).flatMap(([kind, post]) =>
  Object.entries(TROUBLES).map(([what, spoil]) => [kind, what, post, spoil] as const),
);

it.each(cases)("shows %s once when any one conversation %s", async (_kind, what, post, spoil) => {
  let conversations = 1;
  for (let index = 0; index < conversations; index += 1) {
    await using stage = await openNostr(nostr);
    const { ctx } = stage;
    const sockets = troubled(ctx.sockets, { index, spoil });
    const { id } = await addPost(ctx, stage.account, contentOf(post));
    await finish(ctx, id, { ...ctx, sockets });
    conversations = Math.max(conversations, index === 0 ? sockets.count() : conversations);
    await expectOnce(stage, id, `conversation ${index}: ${what}`);
    expect((await readPost(ctx, id)).warnings).toBeNull();
    // Whatever went wrong with one, in the end every relay has it.
    for (const url of RELAYS)
      expect(
        [...(stage.nostr.state.relays.get(url)?.events.values() ?? [])].map(({ content }) => content),
      ).toContainEqual(expect.stringContaining("A horn"));
  }
});

it.each(Object.entries(TROUBLES))(
  "shows a post once when each relay's first conversation %s",
  async (_what, spoil) => {
    await using stage = await openNostr(nostr);
    const { ctx } = stage;
    let count = 0;
    const sockets: Sockets = {
      converse: (request, work) =>
        troubled(ctx.sockets, { index: count++ < 2 ? 0 : -1, spoil }).converse(request, work),
    };
    const { id } = await addPost(ctx, stage.account, contentOf(TEXT));
    await finish(ctx, id, { ...ctx, sockets });
    await expectOnce(stage, id, "both relays");
  },
);

describe("a relay that", () => {
  it("is down does not hold a post up, and gets it when it is back", async () => {
    await using stage = await openNostr(nostr);
    const { ctx } = stage;
    const down = stage.nostr.relay(1);
    down.isDown = true;
    const { id } = await addPost(ctx, stage.account, contentOf(TEXT));
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "published", warnings: null });
    down.isDown = false;
    await finish(ctx, id);
    expect([...down.events.values()].filter(({ kind }) => kind === 1)).toHaveLength(1);
    expect((await readPost(ctx, id)).warnings).toBeNull();
  });

  it("stays down becomes a warning", async () => {
    await using stage = await openNostr(nostr);
    stage.nostr.relay(1).isDown = true;
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    const { status, warnings } = await finish(stage.ctx, id);
    expect([status, JSON.parse(warnings ?? "[]")]).toEqual([
      "published",
      [expect.stringContaining("wss://two.example/ cannot be reached")],
    ]);
  });

  it.each([
    ["blocked: go away, and tell your user to pay", "blocks this key"],
    ["restricted: members", "takes posts only from its members"],
    ["pow: difficulty 26 is less than 30", "asks for proof of work"],
    ["invalid: created_at", "calls the post invalid"],
    ["what?", "refused the post"],
  ])("says %j becomes a warning in our words, at once", async (words, ours) => {
    await using stage = await openNostr(nostr);
    stage.nostr.relay(0).manner = () => [false, words];
    const before = stage.nostr.state.conversations;
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    const { warnings, status } = await finish(stage.ctx, id);
    expect([status, JSON.parse(warnings ?? "[]")]).toEqual([
      "published",
      [expect.stringContaining(`wss://one.example/ ${ours}`)],
    ]);
    expect(warnings).not.toContain(words);
    expect(stage.nostr.state.conversations - before).toBe(2);
  });

  it("the door does not let be reached becomes a warning", async () => {
    await using stage = await openNostr(nostr);
    const sockets: Sockets = {
      async converse(request, work) {
        if (request.url === RELAYS[0])
          throw new AppError("invalid", "The address leads to a private network.");
        return stage.nostr.sockets.converse(request, work);
      },
    };
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    const { warnings, status } = await finish(stage.ctx, id, { ...stage.ctx, sockets });
    expect([status, warnings]).toEqual([
      "published",
      expect.stringContaining("cannot be used: The address leads"),
    ]);
  });

  it("knows the post already has it", async () => {
    await using stage = await openNostr(nostr);
    for (const at of [0, 1]) stage.nostr.relay(at).manner = () => [false, "duplicate: have it"];
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    expect(await finish(stage.ctx, id)).toMatchObject({ status: "published", warnings: null });
  });

  it("asks who it is gets the key's signature, to write and to read", async () => {
    await using stage = await openNostr(nostr);
    for (const at of [0, 1]) stage.nostr.relay(at).needsAuth = true;
    const { id } = await addPost(stage.ctx, stage.account, contentOf(fixture.post));
    expect(await finish(stage.ctx, id)).toMatchObject({ status: "published", warnings: null });
    expect(await stage.published()).toBe(1);
  });
});

describe("when no relay takes the post", () => {
  it("fails with what each says", async () => {
    await using stage = await openNostr(nostr);
    stage.nostr.relay(0).manner = () => [false, "blocked: no"];
    stage.nostr.relay(1).manner = () => [false, "pow: 30"];
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    expect(await finish(stage.ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(
        /one\.example\/ blocks this key; wss:\/\/two\.example\/ asks for proof of work/,
      ),
    });
    expect(await stage.published()).toBe(0);
  });

  it.each(["rate-limited: slow down", "error: database"])("tries again after %j", async (words) => {
    await using stage = await openNostr(nostr);
    let times = 0;
    for (const at of [0, 1]) stage.nostr.relay(at).manner = () => (times++ < 4 ? [false, words] : null);
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    expect(await finish(stage.ctx, id)).toMatchObject({ status: "published", warnings: null });
    await expectOnce(stage, id, words);
  });

  it("says that it is unknown where one may have it and cannot be asked any more", async () => {
    await using stage = await openNostr(nostr);
    const [one, two] = [stage.nostr.relay(0), stage.nostr.relay(1)];
    one.manner = () => [false, "blocked: no"];
    const sockets: Sockets = {
      converse: (request, work) =>
        stage.nostr.sockets.converse(request, (socket) =>
          work({
            ...socket,
            // It takes the post, and is gone for good before it says so.
            receive: async () => {
              if ([...two.events.values()].some(({ kind }) => kind === 1)) two.isDown = true;
              return two.isDown && request.url === two.url ? lost() : socket.receive();
            },
          }),
        ),
    };
    const { id } = await addPost(stage.ctx, stage.account, contentOf(TEXT));
    const { status, error } = await finish(stage.ctx, id, { ...stage.ctx, sockets });
    expect([status, error]).toEqual(["failed", expect.stringMatching(/^outcome unknown/)]);
    expect(await stage.published()).toBe(1);
  });
});
