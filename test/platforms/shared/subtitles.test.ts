import { describe, expect, it } from "vitest";
import type { MediaFigures } from "../../../src/domain/files/media-limits.ts";
import { probe } from "../../../src/media/probe/run-media-reader.ts";
import { checkSubtitles, readSubtitles } from "../../../src/platforms/shared/subtitles.ts";
import { sourceOf } from "../../support/media.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";

const VTT = `\u{feff}WEBVTT - A horn

STYLE
::cue { color: red }

NOTE nobody reads this

intro
00:01.500 --> 00:02.000 align:start
<v Ann>Hear the <i>horn</i> &amp; <00:01.800>more

01:00:03.000 --> 01:00:04.250
Bye &lt;3
`;

const SRT =
  "1\r\n00:00:01,500 --> 00:00:02,000\r\nHear the <i>horn</i> & more\r\n\r\n2\r\n01:00:03,000 --> 01:00:04,250\r\n{\\an8}<font color=red>Bye</font> <3\r\n";

async function rewritten(
  content: string | Buffer,
  limits: Parameters<typeof readSubtitles>[2],
): Promise<string> {
  const bytes = Buffer.from(content as string);
  const { mimeType } = await probe(sourceOf(bytes));
  const media = createMemoryMedia(new Map([["https://m.example/s", { bytes, mimeType }]]));
  const io = { media: media.forPost({ ownerId: "o", postId: "p" }, new AbortController().signal) };
  const subtitles = [{ url: "https://m.example/s", language: "en" }];
  return (await readSubtitles({ subtitles }, io, limits))[0]!.bytes.toString("utf8");
}

describe("subtitles", () => {
  it("are known by their beginning", async () => {
    const types = await Promise.all(
      [VTT, SRT, `\u{feff}${SRT}`].map((text) => probe(sourceOf(Buffer.from(text)))),
    );
    expect(types.map(({ mimeType, type }) => [mimeType, type])).toEqual([
      ["text/vtt", "other"],
      ["application/x-subrip", "other"],
      ["application/x-subrip", "other"],
    ]);
    await expect(probe(sourceOf(Buffer.from("1\nA list\n")))).rejects.toThrow("This is plain text.");
  });

  it("are rewritten for a platform that takes the other format", async () => {
    expect(await rewritten(VTT, { format: "srt" })).toBe(
      "1\n00:00:01,500 --> 00:00:02,000\nHear the <i>horn</i> & more\n\n2\n01:00:03,000 --> 01:00:04,250\nBye <3\n",
    );
    expect(await rewritten(SRT, { format: "vtt" })).toBe(
      "WEBVTT\n\n00:00:01.500 --> 00:00:02.000\nHear the <i>horn</i> &amp; more\n\n01:00:03.000 --> 01:00:04.250\nBye &lt;3\n",
    );
    expect(await rewritten(SRT, { format: "srt" })).toBe(SRT);
    expect(await rewritten(VTT, {})).toBe(VTT.slice(1));
  });

  it("are refused in words", async () => {
    const latin = Buffer.from(SRT.replace("horn", "Hörner"), "latin1");
    await expect(rewritten(latin, {})).rejects.toThrow(
      "metadata.subtitles[0].url: the subtitles are not in UTF-8.",
    );
    await expect(rewritten("WEBVTT\n\nNOTE\n", { format: "srt" })).rejects.toThrow("holds no subtitles");
    await expect(rewritten(VTT, { maxBytes: 20 })).rejects.toThrow("subtitles may have 20");
    await expect(rewritten(SRT, { format: "vtt", maxBytes: 20 })).rejects.toThrow("subtitles may have 20");
  });

  it("are checked where the files are at hand", () => {
    const file = (figures: Partial<MediaFigures>) => figures as MediaFigures;
    const subtitles = [{ url: "r2://s", language: "en" }];
    const check = (mediaUrl: string, figures: Partial<MediaFigures>, film = file({ type: "video" })) =>
      checkSubtitles(
        { mediaUrl, metadata: { subtitles } },
        new Map([
          ["r2://s", file(figures)],
          ["r2://film", film],
        ]),
        { format: "vtt", maxBytes: 100 },
      );
    expect(check("r2://film", { mimeType: "text/vtt", sizeBytes: 100 })).toEqual([]);
    expect(check("r2://film", { mimeType: "application/x-subrip", sizeBytes: 101 })).toEqual([]);
    expect(check("https://m.example/film", { mimeType: "text/vtt", sizeBytes: 101 })[0]).toContain(
      "may have 100",
    );
    expect(check("r2://film", { mimeType: "image/png", sizeBytes: 1 })[0]).toContain(
      "is image/png, and must be",
    );
    expect(check("", {})[0]).toContain("belong to a video");
    expect(check("r2://film", {}, file({ type: "image" }))[0]).toContain("belong to a video");
  });
});
