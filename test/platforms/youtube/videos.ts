import { json, refusal, type Answer } from "./answers.ts";

type Part = Record<string, unknown>;

export interface FakeVideo {
  readonly id: string;
  snippet: Part;
  status: Part;
  readonly sizeBytes: number;
  readonly uploadedAt: number;
  notifies: boolean;
  /** When everybody could see it first, in milliseconds since 1970. */
  shownAt: number | null;
  wasPublic: boolean;
}

const MUTABLE_STATUS = [
  "privacyStatus",
  "publishAt",
  "license",
  "embeddable",
  "publicStatsViewable",
  "selfDeclaredMadeForKids",
  "containsSyntheticMedia",
];
const CATEGORIES: readonly (readonly [string, string, boolean])[] = [
  ["1", "Film & Animation", true],
  ["18", "Short Movies", false],
  ["22", "People & Blogs", true],
  ["27", "Education", true],
];

/** The videos of the one channel, its playlists, and what becomes of both in time. */
export function createVideos(now: () => number, uploadsList: string) {
  const all = new Map<string, FakeVideo>();
  const playlists = new Map<string, string[]>([
    ["PLhorns", []],
    ["PLother", []],
  ]);
  const self = {
    all,
    playlists,
    thumbnails: new Map<string, Buffer[]>(),
    /** How long a video is worked on, and what it ends as. */
    processingMs: 20_000,
    failure: null as { uploadStatus: string; failureReason?: string; rejectionReason?: string } | null,
    /** False: the project is not audited, and all stays private without a word. */
    isAudited: true,
    /** False: nothing becomes public by itself. */
    flips: true,
    isVerified: true,
    /** Uploads are in the list of uploads after so long. */
    listedAfterMs: 0,
    statistics: {
      viewCount: "12",
      likeCount: "3",
      dislikeCount: "0",
      favoriteCount: "0",
      commentCount: "1",
    } as Part,
    create(body: { snippet: Part; status: Part }, sizeBytes: number, notifies: boolean): FakeVideo {
      const id = `vid${String(all.size + 1).padStart(8, "0")}`;
      const video = { id, sizeBytes, uploadedAt: now(), notifies, shownAt: null, wasPublic: false };
      const made: FakeVideo = { ...video, snippet: { ...body.snippet }, status: { ...body.status } };
      if (!self.isAudited) made.status["privacyStatus"] = "private";
      all.set(id, made);
      turn();
      return made;
    },
    /** Everybody can see them. */
    shown(): FakeVideo[] {
      turn();
      return [...all.values()].filter(({ status }) => status["privacyStatus"] !== "private");
    },
    resource(video: FakeVideo, parts: readonly string[]): Part {
      const isOver = now() >= video.uploadedAt + self.processingMs;
      const failed = isOver ? self.failure : null;
      const upload = failed ?? { uploadStatus: isOver ? "processed" : "uploaded" };
      const processing = isOver ? (failed === null ? "succeeded" : "failed") : "processing";
      const shapes: Record<string, Part> = {
        snippet: {
          ...video.snippet,
          channelId: "UChorn00000000000000000",
          publishedAt: new Date(video.shownAt ?? video.uploadedAt).toISOString(),
        },
        status: {
          publicStatsViewable: true,
          license: "youtube",
          embeddable: true,
          ...video.status,
          ...upload,
        },
        statistics: self.statistics,
        processingDetails: {
          processingStatus: processing,
          fileDetailsAvailability: isOver ? "available" : "inProgress",
        },
        fileDetails: isOver ? { fileSize: String(video.sizeBytes), fileName: "unknown" } : {},
      };
      const wanted = parts
        .map((part) => [part, shapes[part]] as const)
        .filter(([, shape]) => shape !== undefined);
      return { kind: "youtube#video", etag: "e", id: video.id, ...Object.fromEntries(wanted) };
    },
    /** Null for what is not played. */
    perform(name: string, query: URLSearchParams, body: Record<string, Part> | null): Answer | null {
      turn();
      const parts = (query.get("part") ?? "").split(",");
      switch (name) {
        case "GET /youtube/v3/videos": {
          const ids = (query.get("id") ?? "").split(",");
          const found = ids.flatMap((id) => all.get(id) ?? []);
          return json({
            kind: "youtube#videoListResponse",
            items: found.map((one) => self.resource(one, parts)),
          });
        }
        case "PUT /youtube/v3/videos":
          return update(String(body?.["id"]), body ?? {}, parts);
        case "DELETE /youtube/v3/videos":
          return all.delete(query.get("id") ?? "")
            ? { status: 204 }
            : refusal(
                404,
                "videoNotFound",
                "The video that you are trying to delete cannot be found.",
                "youtube.video",
              );
        case "POST /youtube/v3/playlistItems":
          return addItem(body?.["snippet"] ?? {});
        case "GET /youtube/v3/playlistItems":
          return listItems(query);
        case "GET /youtube/v3/playlists":
          return json({
            items: [...playlists.keys()].map((id) => ({ id, snippet: { title: `List ${id}` } })),
          });
        case "GET /youtube/v3/videoCategories":
          return json({
            items: CATEGORIES.map(([id, title, assignable]) => ({ id, snippet: { title, assignable } })),
          });
        default:
          return null;
      }
    },
  };

  /** What the clock did to them. */
  function turn(): void {
    for (const video of all.values()) {
      const at = Date.parse(String(video.status["publishAt"] ?? ""));
      if (self.flips && self.isAudited && at <= now()) show(video, "public", at);
      if (video.status["privacyStatus"] !== "private")
        show(video, String(video.status["privacyStatus"]), now());
    }
  }

  function show(video: FakeVideo, privacy: string, at: number): void {
    const { publishAt: _over, ...status } = video.status;
    video.status = { ...status, privacyStatus: privacy };
    video.shownAt ??= at;
    if (privacy === "public") video.wasPublic = true;
  }

  /** Every field of a part that is listed is replaced; what is left out is erased. */
  function update(id: string, body: Record<string, Part>, parts: readonly string[]): Answer {
    const video = all.get(id);
    if (video === undefined) return refusal(404, "videoNotFound", "Not found.", "youtube.video");
    const { snippet, status } = body;
    if (parts.some((part) => body[part] === undefined))
      return refusal(400, "badRequest", "A part is missing.");
    if (snippet !== undefined) {
      const problem = problemOf(snippet);
      if (problem !== null) return problem;
      video.snippet = { ...snippet };
    }
    if (status !== undefined) {
      if (Object.keys(status).some((name) => !MUTABLE_STATUS.includes(name)))
        return refusal(400, "invalidVideoMetadata", "A field cannot be changed.");
      if (status["publishAt"] !== undefined && (status["privacyStatus"] !== "private" || video.wasPublic))
        return refusal(
          400,
          "invalidPublishAt",
          "The request metadata specifies an invalid scheduled publishing time.",
        );
      video.status = {
        privacyStatus: "public",
        ...status,
        ...(self.isAudited ? {} : { privacyStatus: "private" }),
      };
    }
    turn();
    return json(self.resource(video, parts));
  }

  function addItem(snippet: Part): Answer {
    const list = playlists.get(String(snippet["playlistId"]));
    const { kind, videoId } = (snippet["resourceId"] ?? {}) as Part;
    if (list === undefined) return refusal(404, "playlistNotFound", "Not found.", "youtube.playlistItem");
    if (kind !== "youtube#video")
      return refusal(400, "resourceNotSupported", "Not a video.", "youtube.playlistItem");
    if (!all.has(String(videoId))) return refusal(404, "videoNotFound", "Not found.", "youtube.playlistItem");
    list.push(String(videoId));
    return json({ kind: "youtube#playlistItem", id: `item${list.length}`, snippet });
  }

  function listItems(query: URLSearchParams): Answer {
    const listed = [...all.values()].filter(({ uploadedAt }) => now() >= uploadedAt + self.listedAfterMs);
    const own = listed.map(({ id }) => id).reverse();
    const ids = query.get("playlistId") === uploadsList ? own : playlists.get(query.get("playlistId") ?? "");
    if (ids === undefined) return refusal(404, "playlistNotFound", "Not found.", "youtube.playlistItem");
    const wanted = query.get("videoId");
    const items = ids.filter((id) => wanted === null || id === wanted);
    const start = Number(query.get("pageToken") ?? 0);
    const page = items.slice(start, start + Number(query.get("maxResults") ?? 5));
    const next = start + page.length < items.length ? { nextPageToken: String(start + page.length) } : {};
    return json({
      ...next,
      items: page.map((id) => ({
        id: `item-${id}`,
        snippet: {
          title: all.get(id)?.snippet["title"],
          publishedAt: new Date(all.get(id)?.uploadedAt ?? 0).toISOString(),
        },
        contentDetails: { videoId: id },
      })),
    });
  }
  return self;
}

export type FakeVideos = ReturnType<typeof createVideos>;

/** The refusal of what a video says of itself; null where nothing is wrong. */
export function problemOf(snippet: Part): Answer | null {
  const domain = "youtube.video";
  const title = String(snippet["title"] ?? "");
  if (title.trim() === "" || [...title].length > 100 || /[<>]/.test(title))
    return refusal(
      400,
      "invalidTitle",
      "The request metadata specifies an invalid or empty video title.",
      domain,
    );
  const description = String(snippet["description"] ?? "");
  if (Buffer.byteLength(description) > 5_000 || /[<>]/.test(description))
    return refusal(
      400,
      "invalidDescription",
      "The request metadata specifies an invalid video description.",
      domain,
    );
  const tags = (snippet["tags"] ?? []) as string[];
  const length = tags.reduce(
    (sum, tag) => sum + [...tag].length + (/\s/.test(tag) ? 2 : 0),
    Math.max(0, tags.length - 1),
  );
  if (length > 500 || tags.some((tag) => /[<>]/.test(tag)))
    return refusal(400, "invalidTags", "The request metadata specifies invalid video keywords.", domain);
  if (!CATEGORIES.some(([id, , assignable]) => assignable && id === snippet["categoryId"]))
    return refusal(
      400,
      "invalidCategoryId",
      "The snippet.categoryId property specifies an invalid category ID.",
      domain,
    );
  return null;
}
