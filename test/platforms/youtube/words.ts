import type { Described } from "../../support/described.ts";
import { json, refusal, type Answer, type Incoming } from "./answers.ts";
import type { FakeVideos } from "./videos.ts";

interface FakeSubtitles {
  readonly videoId: string;
  readonly language: string;
  readonly name: string;
  readonly text: string;
}

interface FakeComment {
  readonly id: string;
  readonly channelId: string;
  readonly videoId: string;
  readonly text: string;
  readonly at: number;
}

interface Parts {
  now(): number;
  readonly wrong: string[];
  readonly videos: FakeVideos;
  readonly channelId: string;
}

/** Of a body of two parts: what is said of a file, and the file. Says what is wrong with another. */
export function partsOf(headers: Incoming["headers"], bytes: Buffer) {
  if (Number(headers["content-length"]) !== bytes.length) return "two parts of another length";
  const boundary = /^multipart\/related; boundary=([\w-]{1,70})$/.exec(headers["content-type"] ?? "")?.[1];
  const parts = bytes.toString("utf8").split(`--${boundary}`);
  const [said, file] = parts.slice(1, 3).map((part) => part.split("\r\n\r\n"));
  if (boundary === undefined || parts.length !== 4 || parts[3] !== "--\r\n" || !file?.[1])
    return "not two parts";
  const type = /^\r\ncontent-type: ([^\r]+)/i.exec(said?.[0] ?? "")?.[1] ?? "";
  return { headers: { "content-type": type }, body: said?.[1] ?? "", file: file[1].replace(/\r\n$/, "") };
}

/** Subtitles and comments of videos. */
export function createWords({ now, wrong, videos, channelId }: Parts) {
  const self = {
    subtitles: [] as FakeSubtitles[],
    comments: [] as FakeComment[],
    /** False: nobody may comment. */
    takesComments: true,
    /** A comment is listed after so long. */
    listedAfterMs: 0,
    caption({ body: resource }: Described, text: string): Answer {
      const { videoId = "", language = "", name } = resource.snippet;
      if (language === "" || name === undefined) return complain("captions: language or name is missing");
      if (name.length > 150) return refusal(400, "nameTooLong", "Too long.", "youtube.caption");
      if (!videos.all.has(videoId)) return refusal(404, "videoNotFound", "Not found.", "youtube.caption");
      const isThere = self.subtitles.some(
        (one) => one.videoId === videoId && one.language === language && one.name === name,
      );
      if (isThere) return refusal(409, "captionExists", "There is such a track.", "youtube.caption");
      self.subtitles.push({ videoId, language, name, text });
      return json({
        kind: "youtube#caption",
        id: `track${self.subtitles.length}`,
        snippet: resource.snippet,
      });
    },
    /** Null for what is not played. */
    perform(asked: Described, file: string): Answer | null {
      switch (asked.name) {
        case "POST /upload/youtube/v3/captions":
          return self.caption(asked, file);
        case "POST /youtube/v3/commentThreads":
          return add(asked.body.snippet);
        default:
          return asked.name === "GET /youtube/v3/commentThreads" ? list(asked.query) : null;
      }
    },
  };

  interface Thread {
    readonly channelId?: string;
    readonly videoId?: string;
    readonly topLevelComment?: { readonly snippet?: { readonly textOriginal?: string } };
  }

  function add({ channelId: of, videoId = "", topLevelComment }: Thread): Answer {
    const text = topLevelComment?.snippet?.textOriginal ?? "";
    const video = videos.all.get(videoId);
    if (of !== channelId || text.trim() === "") return complain("a comment without its channel or text");
    if (video === undefined) return refusal(404, "videoNotFound", "Not found.", "youtube.commentThread");
    if (!self.takesComments || video.status["privacyStatus"] === "private")
      return refusal(403, "commentsDisabled", "The video has disabled comments.", "youtube.commentThread");
    const id = `comment${self.comments.length + 1}`;
    self.comments.push({ id, channelId, videoId, text, at: now() });
    return json({ kind: "youtube#commentThread", id });
  }

  function list(query: URLSearchParams): Answer {
    const of = self.comments.filter(({ videoId }) => videoId === query.get("videoId"));
    const listed = of.filter(({ at }) => now() >= at + self.listedAfterMs).toReversed();
    return json({
      kind: "youtube#commentThreadListResponse",
      items: listed.map(({ id, channelId: by, videoId, text, at }) => ({
        id,
        snippet: {
          videoId,
          topLevelComment: {
            id,
            snippet: {
              textOriginal: text,
              textDisplay: text,
              authorChannelId: { value: by },
              publishedAt: new Date(at).toISOString(),
            },
          },
        },
      })),
    });
  }

  function complain(problem: string): Answer {
    wrong.push(problem);
    return refusal(400, "badRequest", problem, "global");
  }
  return self;
}
