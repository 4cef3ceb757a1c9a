import type { MediaSource } from "../../../src/ports/media.ts";
import type { Outbound } from "../../../src/ports/outbound.ts";
import type { AnyPlatform } from "../../../src/ports/platform.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";
import type { PostRow } from "../../../src/store/schema/tables.ts";
import { FakeClock } from "../clock.ts";
import { callOf, createTestContext } from "../context.ts";
import { addPost } from "../publishing.ts";
import { connectOn } from "./connect-on.ts";
import { expectAskedRightly } from "./ends.ts";
import { createStageMedia } from "./stage-media.ts";
import type { Stage } from "./stage.ts";

/** What a stage shows of a platform. */
interface Showing<P> extends Pick<Stage, "ctx" | "account" | "isBlind" | "wrong"> {
  /** What everybody sees there. */
  shown(): readonly P[];
  textOf(post: P): string;
  /** Default: its context is closed. */
  close?(): PromiseLike<void>;
}

/** The stage of a platform that a channel is connected to. */
export function stageOn<P>({ wrong = [], shown, textOf, close, ...stage }: Showing<P>): Stage {
  const posts = () => {
    expectAskedRightly({ wrong });
    return shown();
  };
  return {
    ...stage,
    wrong,
    published: async () => posts().length,
    captions: async () => posts().map(textOf),
    [Symbol.asyncDispose]: async () => (close ?? (() => stage.ctx[Symbol.asyncDispose]()))(),
  };
}

interface Fake {
  readonly door: Outbound;
  readonly wrong?: readonly string[];
}

interface Opened<F extends Fake, P> {
  readonly platform: AnyPlatform;
  createFake(now: () => number): F;
  /** What a person gives to connect the channel. */
  connect(fake: F): Omit<Parameters<typeof connectOn>[1], "provider">;
  /** Default: a picture, a film with its subtitles, and a document. */
  readonly media?: MediaSource;
  /** What each post has that `add` makes. */
  readonly metadata?: JsonObject;
  shown(fake: F, now: number): readonly P[];
  textOf(post: P, fake: F): string;
}

export interface FakeStage<F> extends Stage {
  readonly fake: F;
  add(caption: string, metadata?: JsonObject, more?: Partial<PostRow>): ReturnType<typeof addPost>;
}

/** A platform in this process, and a channel on it that is connected by secrets. */
export async function openStage<F extends Fake, P>(parts: Opened<F, P>): Promise<FakeStage<F>> {
  const { platform, media = createStageMedia(), metadata: usual = {} } = parts;
  const clock = new FakeClock();
  const fake = parts.createFake(() => clock.now());
  const ctx = await createTestContext({ platformList: [platform], outbound: fake.door, media, clock });
  const account = await connectOn(callOf(ctx), { provider: platform.name, ...parts.connect(fake) });
  const stage = stageOn<P>({
    ctx,
    account,
    wrong: fake.wrong ?? [],
    shown: () => parts.shown(fake, clock.now()),
    textOf: (post) => parts.textOf(post, fake),
  });
  return {
    ...stage,
    fake,
    add: (caption, metadata = {}, more = {}) =>
      addPost(ctx, account, { caption, metadata: JSON.stringify({ ...usual, ...metadata }), ...more }),
  };
}
