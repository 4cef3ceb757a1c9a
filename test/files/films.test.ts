import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { AcceptedMedia } from "../../src/domain/accounts/capabilities.ts";
import { AppError } from "../../src/domain/errors.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/domain/time.ts";
import { convertFilms } from "../../src/files/films.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import type { FilmConverter, FilmJob } from "../../src/ports/film-converter.ts";
import { DiskFull } from "../../src/ports/disk-space.ts";
import type { AnyPlatform } from "../../src/ports/platform.ts";
import { cancelPost, getPost } from "../../src/posts/posts.ts";
import { retryPost, updatePost } from "../../src/posts/update-post.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { freeWorker } from "../../src/store/queries/publishing/release.ts";
import { callOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { queryOf } from "../support/handles.ts";
import { fixture } from "../support/media.ts";
import { addAccount, drain, readPost, runTick } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const CLIP = fixture("clip.mp4");
/** The same film as QuickTime, by its brand. */
const MOVIE = Buffer.concat([CLIP.subarray(0, 8), Buffer.from("qt  "), CLIP.subarray(12)]);
const MP4: AcceptedMedia = { kind: "video", mimeTypes: ["video/mp4"], videoCodecs: ["avc"], maxItems: 1 };

/** Gives what it is told to, and notes what it was asked. */
class Converter implements FilmConverter {
  readonly howToInstall = "Install it.";
  readonly jobs: FilmJob[] = [];
  readonly expected: Buffer[] = [MOVIE];
  result: Buffer | Error = CLIP;
  isHere = true;
  /** Resolves when the work may end. */
  held: Promise<void> = Promise.resolve();

  /** Whether the disk has room. */
  hasRoom = true;
  /** What killed processes left. */
  leftOvers: string[] = [];

  isThere = async () => this.isHere;

  async assertRoom() {
    if (!this.hasRoom) throw new DiskFull();
  }

  async removeLeftOvers(isOver: (id: string) => Promise<boolean>) {
    const kept: string[] = [];
    for (const id of this.leftOvers) if (!(await isOver(id))) kept.push(id);
    this.leftOvers = kept;
  }

  async convert(job: FilmJob, signal: AbortSignal) {
    this.jobs.push(job);
    const bytesOf = await buffer(job.open());
    expect(this.expected.some((one) => one.equals(bytesOf))).toBe(true);
    job.onProgress(40);
    await Promise.race([
      this.held,
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ]);
    if (this.result instanceof Error) throw this.result;
    const bytes = this.result;
    return {
      sizeBytes: bytes.length,
      read: ({ start = 0, end = bytes.length - 1 } = {}) => Readable.from([bytes.subarray(start, end + 1)]),
      [Symbol.asyncDispose]: async () => {},
    };
  }
}

const never = new AbortController().signal;

interface World {
  readonly ctx: FileContext;
  readonly films: Converter;
  readonly accountId: string;
  readonly url: string;
  /** What the platform got, in order. */
  readonly sent: { readonly bytes: Buffer; readonly mimeType: string; readonly address: string | null }[];
}

async function withFilm(
  work: (world: World) => Promise<void>,
  { accepts = MP4, fetches = false } = {},
): Promise<void> {
  const films = new Converter();
  const sent: World["sent"] = [];
  const platform: AnyPlatform = scriptedPlatform({
    capabilities: {
      ...TEXT_CAPABILITIES,
      media: { required: false, maxItems: 1, accepts: [accepts] },
      fetchesMedia: fetches ? ["video"] : [],
    },
    async publish(post, io) {
      const item = await io.media.item(post.mediaUrl);
      const address = fetches ? await io.media.publicUrl(item, 30) : null;
      sent.push({ bytes: await buffer(item.open()), mimeType: item.facts.mimeType, address });
      return { state: "live", platformPostId: String(sent.length), platformUrl: null };
    },
  });
  await using ctx = await createFileContext({
    platformList: [platform],
    films,
    publicUrl: async () => "http://localhost:4747",
    sharesCopies: true,
  });
  ctx.files.temporaryUrl = async (key) => `https://bucket.example/${key}`;
  const { id: accountId } = await addAccount(ctx);
  const { url } = (
    await storeUpload(callOf(ctx), { name: null, altText: null, body: Readable.from([MOVIE]) })
  ).file;
  await work({ ctx, films, accountId, url, sent });
}

const filmsIn = ({ store }: FileContext) => queryOf(store).selectFrom("films").selectAll().execute();

async function schedule({ ctx, accountId, url }: World, inMs = HOUR) {
  const scheduledAt = new Date(ctx.clock.now() + inMs).toISOString();
  return (await schedulePost(callOf(ctx), { accountId, mediaUrl: url, scheduledAt })).post.id;
}

describe("a film that the platform does not take", () => {
  it("holds up no end of the process: its post is let go, and the next process converts it", () =>
    withFilm(async (world) => {
      const { ctx, films, sent } = world;
      const id = await schedule(world, 0);
      const ending = new AbortController();
      films.held = new Promise(() => {});
      const tick = runTick({ ...ctx, ending: ending.signal });
      await expect.poll(() => films.jobs.length).toBe(1);
      ending.abort();
      await tick;
      expect(await readPost(ctx, id)).toMatchObject({ status: "scheduled", error: null });
      expect(sent).toEqual([]);
      films.held = Promise.resolve();
      await drain(ctx);
      expect(await readPost(ctx, id)).toMatchObject({ status: "published" });
    }));

  it("is refused without ffmpeg, with the command that brings it", () =>
    withFilm(async ({ ctx, films, accountId, url }) => {
      films.isHere = false;
      await expect(schedulePost(callOf(ctx), { accountId, mediaUrl: url })).rejects.toThrow(
        "mediaUrl: is video/quicktime, and must be video/mp4 on Scripted. Give another file. Install it.",
      );
    }));

  it("is refused without a word of ffmpeg where that would not help", () =>
    withFilm(
      async ({ ctx, films, accountId, url }) => {
        films.isHere = false;
        const refused = schedulePost(callOf(ctx), { accountId, mediaUrl: url });
        await expect(refused).rejects.toThrow(
          /lasts 2 seconds, and may last 1 on Scripted. Give another file.$/,
        );
      },
      { accepts: { ...MP4, maxSeconds: 1 } },
    ));

  it("is told of in a dry run, which converts nothing", () =>
    withFilm(async ({ ctx, accountId, url }) => {
      const scheduledAt = new Date(ctx.clock.now()).toISOString();
      const planned = await schedulePost(callOf(ctx), {
        accountId,
        mediaUrl: url,
        scheduledAt,
        dryRun: true,
      });
      const change = "will be re-encoded from video/quicktime as video/mp4";
      expect(planned.warnings).toEqual([`mediaUrl: the video ${change} for Scripted.`]);
      expect(planned.preview?.media[0]?.change).toBe(`The video ${change}.`);
      expect(await filmsIn(ctx)).toEqual([]);
    }));

  it("is converted once ahead, for all posts that want it so, and sent as it is then", () =>
    withFilm(async (world) => {
      const { ctx, films, sent } = world;
      const ids = [await schedule(world), await schedule(world)];
      expect((await getPost(callOf(ctx), { id: ids[0]! })).preparing).toEqual({ percent: 0, problem: null });
      await convertFilms(ctx, never);
      expect((await getPost(callOf(ctx), { id: ids[0]! })).preparing).toBeUndefined();
      ctx.clock.advance(HOUR);
      await drain(ctx);
      expect(films.jobs).toHaveLength(1);
      expect(sent.map(({ mimeType }) => mimeType)).toEqual(["video/mp4", "video/mp4"]);
      expect(sent.every(({ bytes }) => bytes.equals(CLIP))).toBe(true);
    }));

  it("is converted by one process, though others want it, and by another one where that ends", () =>
    withFilm(async (world) => {
      const { ctx, films } = world;
      const id = await schedule(world);
      const other = { ...ctx, workerId: "wrk_other" };
      const ends = new AbortController();
      films.held = new Promise(() => {});
      const first = convertFilms(ctx, ends.signal);
      const isAtWork = async () => (await getPost(callOf(ctx), { id })).preparing?.percent;
      await expect.poll(isAtWork).toBe(40);
      await convertFilms(other, never);
      expect(films.jobs).toHaveLength(1);
      films.held = Promise.resolve();
      // As those do that take over from a process that was killed.
      await ctx.store.write((tx) => freeWorker(tx, ctx.workerId, ctx.clock.now()));
      await convertFilms(other, never);
      expect(films.jobs).toHaveLength(2);
      expect(await isAtWork()).toBeUndefined();
      ends.abort(new Error("The process is stopping."));
      await expect(first).rejects.toThrow("stopping");
      // The one that was taken for dead changes nothing any more.
      expect((await filmsIn(ctx)).map(({ percent, error }) => [percent, error])).toEqual([[100, null]]);
    }));

  it("is converted in the order in which posts are due by now, and makes way for one that is due", () =>
    withFilm(async (world) => {
      const { ctx, films, accountId } = world;
      const long = await schedule(world, 30 * DAY);
      const other = Buffer.concat([MOVIE, Buffer.from("\0\0\0\u0008free")]);
      films.expected.push(other);
      const body = Readable.from([other]);
      const { file } = await storeUpload(callOf(ctx), { name: null, altText: null, body });
      let release = (): void => {};
      films.held = new Promise<void>((resolve) => (release = resolve));
      const converting = convertFilms(ctx, never);
      await expect.poll(() => films.jobs.length).toBe(1);
      const scheduledAt = new Date(ctx.clock.now() + 40 * DAY).toISOString();
      const { post } = await schedulePost(callOf(ctx), { accountId, mediaUrl: file.url, scheduledAt });
      await ctx.clock.advance(3 * SECOND);
      expect(films.jobs).toHaveLength(1);
      // It is moved to the next minutes.
      const soon = new Date(ctx.clock.now() + MINUTE).toISOString();
      await updatePost(callOf(ctx), { id: post.id, scheduledAt: soon });
      await ctx.clock.advance(3 * SECOND);
      await expect.poll(() => films.jobs.length).toBe(2);
      expect(films.jobs[1]?.id).not.toBe(films.jobs[0]?.id);
      expect(films.jobs.map((job) => job.isAhead())).toEqual([true, false]);
      release();
      await converting;
      // The one that was broken off has begun anew.
      expect(films.jobs.map(({ id }) => id)).toEqual([0, 1, 0].map((n) => films.jobs[n]?.id));
      expect((await filmsIn(ctx)).map(({ facts }) => facts === null)).toEqual([false, false]);
      expect(await readPost(ctx, long)).toMatchObject({ status: "scheduled" });
    }));

  it("fails its post with the reason where it cannot be converted, and another try begins anew", () =>
    withFilm(async (world) => {
      const { ctx, films, sent } = world;
      films.result = new AppError("invalid", "The video does not work.");
      const id = await schedule(world);
      await convertFilms(ctx, never);
      const problem = "The video does not work.";
      expect((await getPost(callOf(ctx), { id })).preparing).toEqual({ percent: 0, problem });
      ctx.clock.advance(HOUR);
      await drain(ctx);
      expect(await readPost(ctx, id)).toMatchObject({ status: "failed", error: `mediaUrl: ${problem}` });
      films.result = CLIP;
      await retryPost(callOf(ctx), { id });
      await drain(ctx);
      expect((await readPost(ctx, id)).status).toBe("published");
      expect(sent).toHaveLength(1);
    }));

  it("waits for room on the disk, says so, and nothing of it is begun before", () =>
    withFilm(async (world) => {
      const { ctx, films } = world;
      films.hasRoom = false;
      const id = await schedule(world);
      for (let pass = 0; pass < 8; pass++) await convertFilms(ctx, never);
      expect(films.jobs).toEqual([]);
      const { preparing } = await getPost(callOf(ctx), { id });
      expect(preparing).toEqual({
        percent: 0,
        problem: expect.stringMatching(/^The disk is full, or nearly so/),
      });
      films.hasRoom = true;
      await convertFilms(ctx, never);
      expect(films.jobs).toHaveLength(1);
      expect((await getPost(callOf(ctx), { id })).preparing).toBeUndefined();
      ctx.clock.advance(HOUR);
      await drain(ctx);
      expect((await readPost(ctx, id)).status).toBe("published");
    }));

  it("is not begun again at once where the disk got full meanwhile", () =>
    withFilm(async (world) => {
      const { ctx, films } = world;
      films.result = new DiskFull();
      const id = await schedule(world);
      await convertFilms(ctx, never);
      expect(films.jobs).toHaveLength(1);
      expect((await getPost(callOf(ctx), { id })).preparing?.problem).toMatch(/^The disk is full/);
      films.hasRoom = false;
      await convertFilms(ctx, never);
      expect(films.jobs).toHaveLength(1);
    }));

  it("leaves nothing in the work folder once its work is over", () =>
    withFilm(async (world) => {
      const { ctx, films } = world;
      await schedule(world);
      const [waiting] = await filmsIn(ctx);
      films.leftOvers = ["of-a-post-that-is-gone", waiting!.id];
      films.isHere = false;
      await convertFilms(ctx, never);
      expect(films.leftOvers).toEqual([waiting!.id]);
    }));

  it("is not sent where some of it is missing", () =>
    withFilm(async (world) => {
      const { ctx } = world;
      const id = await schedule(world);
      await queryOf(ctx.store)
        .updateTable("films")
        .set(({ fn, val }) => ({
          original: fn<string>("replace", [
            "original",
            val('"durationSeconds":2'),
            val('"durationSeconds":9'),
          ]),
        }))
        .execute();
      await convertFilms(ctx, never);
      const { preparing } = await getPost(callOf(ctx), { id });
      expect(preparing?.problem).toMatch(/^The video is damaged: only 2 of its 9 seconds/);
    }));

  it("is converted at its time where it is at an address elsewhere", () =>
    withFilm(async ({ ctx, films, accountId, sent }) => {
      const server = createServer((_request, response) => response.end(MOVIE)).listen(0, "127.0.0.1");
      await once(server, "listening");
      const mediaUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.mov`;
      await schedulePost(callOf(ctx), { accountId, mediaUrl });
      await convertFilms(ctx, never);
      expect(films.jobs).toHaveLength(0);
      await drain(ctx);
      server.close();
      expect(sent.map(({ mimeType }) => mimeType)).toEqual(["video/mp4"]);
      ctx.clock.advance(2 * HOUR);
      await convertFilms(ctx, never);
      expect(await filmsIn(ctx)).toEqual([]);
    }));

  it("is converted anew where the store lost it", () =>
    withFilm(async (world) => {
      const { ctx, films, sent } = world;
      await schedule(world);
      await convertFilms(ctx, never);
      const [film] = await filmsIn(ctx);
      await ctx.files.remove(`films/${film!.id}.mp4`);
      ctx.clock.advance(HOUR);
      await drain(ctx);
      expect(films.jobs).toHaveLength(2);
      expect(sent).toHaveLength(1);
    }));

  it("is kept until its posts are done", () =>
    withFilm(async (world) => {
      const { ctx } = world;
      const id = await schedule(world, 3 * HOUR);
      await convertFilms(ctx, never);
      const [film] = await filmsIn(ctx);
      const key = `films/${film!.id}.mp4`;
      ctx.clock.advance(2 * HOUR);
      await convertFilms(ctx, never);
      expect(await ctx.files.size(key)).toBe(CLIP.length);
      await cancelPost(callOf(ctx), { id });
      ctx.clock.advance(HOUR);
      await convertFilms(ctx, never);
      expect(await filmsIn(ctx)).toEqual([]);
      expect(await ctx.files.size(key)).toBeNull();
    }));

  it("is fetched from the bucket where nobody reaches this machine", () =>
    withFilm(
      async (world) => {
        const { ctx, sent } = world;
        const id = await schedule(world);
        ctx.clock.advance(HOUR);
        await drain(ctx);
        const address = new RegExp(`^https://bucket\\.example/copies/${id}/copy_[0-9a-f]{32}\\.mp4$`);
        expect(sent.map((one) => one.address)).toEqual([expect.stringMatching(address)]);
      },
      { fetches: true },
    ));
});
