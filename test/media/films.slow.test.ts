import { execFileSync } from "node:child_process";
import { createReadStream, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/domain/time.ts";
import { convertFilms } from "../../src/files/films.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { createFfmpeg } from "../../src/media/film/ffmpeg.ts";
import { Overtaken } from "../../src/ports/film-converter.ts";
import bluesky from "../../src/platforms/bluesky/index.ts";
import instagram from "../../src/platforms/instagram/index.ts";
import linkedin from "../../src/platforms/linkedin/index.ts";
import mastodon from "../../src/platforms/mastodon/index.ts";
import x from "../../src/platforms/x/index.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { createFakeMastodon, SERVER } from "../platforms/mastodon/fake.ts";
import { connectOn } from "../support/contract/connect-on.ts";
import { callOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount } from "../support/publishing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/* Real films, made and converted by a real ffmpeg, which must be on the PATH. What comes of them ffprobe tells. */

const folder = temporaryFolder();
const never = new AbortController().signal;
const places = (process.env["PATH"] ?? "").split(delimiter).map((one) => join(one, "ffmpeg"));
const films = createFfmpeg({ places, folder: join(folder.path, "work") });

const fake = createFakeMastodon({ now: () => 0 });
let ctx: FileContext;

beforeAll(async () => {
  ctx = await createFileContext({
    platformList: [bluesky, instagram, linkedin, mastodon, x],
    outbound: fake.door,
    films,
    publicUrl: async () => "https://posts.example",
  });
  expect(await films.isThere(), "ffmpeg and ffprobe must be installed").toBe(true);
});
afterAll(async () => {
  await ctx[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** `args`: with a space between them. */
function make(name: string, ...args: string[]): string {
  const file = join(folder.path, name);
  const given = args.flatMap((some) => some.split(" "));
  execFileSync("ffmpeg", ["-v", "error", "-y", ...given, file]);
  return file;
}

const SOUND = "-f lavfi -i sine=frequency=440";
const picture = (size: string, rate = 30): string => `-f lavfi -i testsrc2=size=${size}:rate=${rate}`;

/** Longer than the shortest film that all of them take. */
const SECONDS = 3.2;

/** As a telephone held upright records it: HEVC of ten bits in HLG, on its side, with a note how to turn it. */
function phoneFilm(): string {
  const colours = "log-level=error:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc";
  const hevc = `-c:v libx265 -preset ultrafast -x265-params ${colours} -pix_fmt yuv420p10le -tag:v hvc1`;
  const place = "-metadata location=+48.1374+011.5755/";
  const lying = make("lying.mov", picture("1280x720"), SOUND, `-t ${SECONDS} ${hevc} -c:a aac ${place}`);
  return make("phone.mov", `-i ${lying} -c copy -map_metadata 0 -metadata:s:v rotate=90`);
}

function webFilm(): string {
  const vp9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus";
  return make("screen.webm", picture("637x359", 120), SOUND, `-t ${SECONDS} ${vp9}`);
}

/** Of about 200 MB: rich in bits, as cameras record. */
function cameraFilm(): string {
  const rate = "-b:v 205M -minrate 205M -maxrate 205M -bufsize 205M";
  const avc = `-c:v libx264 -preset ultrafast -x264-params nal-hrd=cbr:filler=1 ${rate} -c:a aac`;
  return make("camera.mp4", picture("3840x2160", 10), SOUND, `-t 8 ${avc}`);
}

interface Stream {
  readonly codec_type: string;
  readonly codec_name: string;
  readonly profile?: string;
  readonly pix_fmt?: string;
  readonly width?: number;
  readonly height?: number;
  readonly color_transfer?: string;
  readonly sample_aspect_ratio?: string;
  readonly avg_frame_rate: string;
  readonly side_data_list?: readonly object[];
}

interface Seen {
  readonly video: Stream;
  readonly audio: Stream;
  readonly seconds: number;
  readonly bytes: number;
  readonly tags: object;
  readonly framesPerSecond: number;
}

function look(file: string): Seen {
  const asked = ["-v", "error", "-show_streams", "-show_format", "-of", "json", file];
  const { streams, format } = JSON.parse(execFileSync("ffprobe", asked, { encoding: "utf8" })) as {
    streams: readonly Stream[];
    format: { duration: string; tags?: object };
  };
  const of = (type: string): Stream => streams.find((one) => one.codec_type === type)!;
  const [frames = 0, seconds = 1] = of("video").avg_frame_rate.split("/").map(Number);
  return {
    video: of("video"),
    audio: of("audio"),
    seconds: Number(format.duration),
    bytes: statSync(file).size,
    tags: format.tags ?? {},
    framesPerSecond: frames / seconds,
  };
}

const sources = new Map<string, string>();

/** The film as it is sent to a channel, and what a person was told of it. */
async function convertFor(
  accountId: string,
  source: string,
): Promise<{ sent: Seen; warnings: readonly string[] }> {
  const known = sources.get(source);
  const upload = async (): Promise<string> => {
    const body = createReadStream(source);
    return (await storeUpload(callOf(ctx), { name: null, altText: "A film", body })).file.url;
  };
  const mediaUrl = known ?? (await upload());
  sources.set(source, mediaUrl);
  const scheduledAt = new Date(ctx.clock.now() + 60_000).toISOString();
  const { warnings } = await schedulePost(callOf(ctx), {
    accountId,
    mediaUrl,
    scheduledAt,
    caption: "A film",
  });
  await convertFilms(ctx, never);
  const made = await queryOf(ctx.store)
    .selectFrom("films")
    .selectAll()
    .orderBy("created_at", "desc")
    .execute();
  expect(made.map(({ error }) => error).filter((one) => one !== null)).toEqual([]);
  const last = made.at(-1)!;
  const file = join(folder.path, "sent.mp4");
  writeFileSync(file, await buffer(ctx.files.read(`films/${last.id}.mp4`)));
  await queryOf(ctx.store).deleteFrom("films").execute();
  return { sent: look(file), warnings: warnings.map(String) };
}

const account = async (provider: string): Promise<string> => (await addAccount(ctx, { provider })).id;

async function onMastodon(): Promise<string> {
  const target = { provider: "mastodon", way: "token", instanceUrl: SERVER };
  return (await connectOn(callOf(ctx), { ...target, secrets: { accessToken: fake.makeToken() } })).id;
}

/** What every platform takes. */
const PLAIN = {
  video: { codec_name: "h264", profile: "High", pix_fmt: "yuv420p", sample_aspect_ratio: "1:1" },
  audio: { codec_name: "aac" },
};

describe("a telephone's film", () => {
  let source: string;
  beforeAll(() => {
    source = phoneFilm();
    expect(look(source).video).toMatchObject({
      codec_name: "hevc",
      color_transfer: "arib-std-b67",
      width: 1280,
    });
  });

  it.each(["bluesky", "x"])("is turned, and has common light and codecs, on %s", async (provider) => {
    const { sent, warnings } = await convertFor(await account(provider), source);
    expect(sent).toMatchObject(PLAIN);
    expect(sent.video).toMatchObject({ width: 720, height: 1280, color_transfer: "bt709" });
    expect(sent.video.side_data_list ?? []).toEqual([]);
    expect(Math.abs(sent.seconds - SECONDS)).toBeLessThan(0.1);
    expect(JSON.stringify(sent.tags)).not.toMatch(/48\.13|location/);
    expect(warnings.join()).toMatch(/^mediaUrl: the video will be .*(video\/mp4|avc video)/);
  });
});

describe("a WebM", () => {
  let source: string;
  beforeAll(() => void (source = webFilm()));

  it.each(["instagram", "linkedin"])("is an MP4 on %s", async (provider) => {
    const { sent } = await convertFor(await account(provider), source);
    expect(sent).toMatchObject(PLAIN);
    expect(sent.video).toMatchObject({ width: 636, height: 358 });
    expect(Math.abs(sent.seconds - SECONDS)).toBeLessThan(0.1);
    if (provider === "instagram") expect(Math.round(sent.framesPerSecond)).toBe(60);
  });
});

describe("an animated GIF", () => {
  it.each(["bluesky", "instagram"])("is an MP4 on %s, with all of its frames", async (provider) => {
    const source = make("dance.gif", picture("321x240", 10), "-t 4");
    const { sent, warnings } = await convertFor(await account(provider), source);
    expect(sent.video).toMatchObject({ ...PLAIN.video, width: 320, height: 240 });
    expect(Math.abs(sent.seconds - 4)).toBeLessThan(0.15);
    if (provider === "instagram") expect(Math.round(sent.framesPerSecond)).toBeGreaterThanOrEqual(23);
    expect(warnings.join()).toContain("the picture will be re-encoded from image/gif as video/mp4");
  });
});

describe("a film of 200 MB in 4K", () => {
  it("keeps to what the Mastodon server says", async () => {
    const source = cameraFilm();
    expect(look(source).bytes).toBeGreaterThan(190_000_000);
    const { sent, warnings } = await convertFor(await onMastodon(), source);
    expect(sent).toMatchObject(PLAIN);
    expect(sent.video).toMatchObject({ width: 1920, height: 1080 });
    expect(sent.bytes).toBeLessThan(103_809_024);
    expect(Math.abs(sent.seconds - 8)).toBeLessThan(0.1);
    expect(warnings.join()).toContain("brought from");
  });
});

/** To be made a small square. */
function jobOf(file: string, side: number) {
  const sides = { width: side, height: side, frameWidth: side, frameHeight: side };
  return {
    durationSeconds: SECONDS,
    sizeBytes: statSync(file).size,
    path: null,
    form: { ...sides, framesPerSecond: null, maxBytes: null },
    open: () => createReadStream(file),
    onProgress: () => {},
    dueAt: 0,
    isAhead: () => false,
    msLeft: () => HOUR,
  };
}

describe("films for which there is little time", () => {
  it("are on time beside a long one that is due in thirty days", async () => {
    const long = make("long.mov", picture("1280x720", 60), "-t 40 -c:v mpeg4 -q:v 3");
    const ahead = { dueAt: Date.now() + 30 * DAY, isAhead: () => true, msLeft: () => 30 * DAY };
    let isBegun = (): void => {};
    const begun = new Promise<void>((resolve) => (isBegun = resolve));
    const job = {
      ...jobOf(long, 720),
      ...ahead,
      id: "ahead",
      mimeType: "video/quicktime",
      onProgress: () => isBegun(),
    };
    const later = films.convert({ ...job, durationSeconds: 40 }, never).catch((error: unknown) => error);
    await begun;
    const startedAt = performance.now();
    const short = make("short.mov", picture("320x240"), "-t 3 -c:v mpeg4");
    const wanted = { ...jobOf(short, 64), id: "due", mimeType: "video/quicktime", durationSeconds: 3 };
    await using film = await films.convert(wanted, never);
    expect(film.sizeBytes).toBeGreaterThan(0);
    // Alone it takes two or three, and the long one a minute or more.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(await later).toBeInstanceOf(Overtaken);
  });

  it("are given up as soon as their pace tells that they would be too late", async () => {
    const long = make("slow.mov", picture("1280x720", 60), "-t 40 -c:v mpeg4 -q:v 3");
    let percent = 0;
    const until = Date.now() + 3_000;
    const job = { ...jobOf(long, 720), id: "slow", mimeType: "video/quicktime", durationSeconds: 40 };
    // Less than a minute is not asked for: its clock goes twenty times as fast.
    const msLeft = (): number => (until - Date.now()) * 20;
    const onProgress = (seen: number): void => void (percent = seen);
    await expect(films.convert({ ...job, msLeft, onProgress }, never)).rejects.toThrow(
      /takes this machine about \d+ minutes, longer than the post can wait/,
    );
    expect(percent).toBeLessThan(90);
  });
});

describe("a program that runs on films of strangers", () => {
  it("reads no other file and no network, whatever the film is named after", async () => {
    const list = join(folder.path, "list.mov");
    writeFileSync(list, "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/secret\n#EXT-X-ENDLIST\n");
    const job = { ...jobOf(list, 2), id: "hostile", mimeType: "video/quicktime" };
    await expect(films.convert(job, never)).rejects.toMatchObject({ kind: "invalid" });
  });

  it("ends with its signal", async () => {
    const stop = new AbortController();
    const onProgress = (): void => stop.abort(new Error("It is enough."));
    const job = { ...jobOf(webFilm(), 64), id: "stopped", mimeType: "video/webm", onProgress };
    const converting = films.convert(job, stop.signal);
    await expect(converting).rejects.toThrow("It is enough.");
  });
});
