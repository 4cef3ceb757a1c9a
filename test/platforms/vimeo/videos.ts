import { readAll, type Answer, type Incoming } from "../youtube/answers.ts";
import { refusal } from "./spec.ts";

type Part = Record<string, unknown>;

export interface FakeVideo {
  readonly id: string;
  fields: Part;
  privacy: Part;
  readonly total: number;
  received: number;
  readonly madeAt: number;
  wholeAt: number | null;
  /** When others could see it first. */
  shownAt: number | null;
  tags: string[];
  /** Bytes of each, and which of them is shown. */
  readonly pictures: { readonly id: string; bytes: Buffer | null; isActive: boolean }[];
}

const UPLOADS = "https://europe-files.tus.vimeo.example/files/vimeo-prod-src-tus-eu/";
const PICTURES = "https://i.cloud.vimeo.example/video/";

/** The videos of one account, and the places that files are sent to. */
export function createVideos(now: () => number, wrong: string[]) {
  const all = new Map<string, FakeVideo>();
  const self = {
    all,
    /** How long a film is worked on until it can be watched, and what it ends as. */
    processingMs: 20_000,
    failure: null as string | null,
    /** Views that the account's plan has not: left as they were, without a word. */
    refusedViews: [] as string[],
    /** Links of uploads are over. */
    isExpired: false,
    listedAfterMs: 0,
    bytesIn: 0,
    chunks: 0,
    onChunk: async (_when: "begun" | "stored"): Promise<void> => {},
    create({ upload, privacy, ...fields }: Part): FakeVideo {
      const id = String(870_000_001 + all.size);
      const total = Number((upload as Part)["size"]);
      const video = { id, fields, privacy: { view: "anybody", ...(privacy as Part) }, total, received: 0 };
      const made = { ...video, madeAt: now(), wholeAt: null, shownAt: null, tags: [], pictures: [] };
      all.set(id, made);
      turn();
      return made;
    },
    shown(): FakeVideo[] {
      turn();
      return [...all.values()].filter(({ privacy }) => privacy["view"] !== "nobody");
    },
    update(video: FakeVideo, { privacy = {}, ...fields }: Part): void {
      const view = String((privacy as Part)["view"] ?? video.privacy["view"]);
      const kept = self.refusedViews.includes(view) ? { view: video.privacy["view"] } : {};
      video.privacy = { ...video.privacy, ...(privacy as Part), ...kept };
      video.fields = { ...video.fields, ...fields };
      turn();
    },
    shape(video: FakeVideo): Part {
      const isOver = video.wholeAt !== null && now() >= video.wholeAt + self.processingMs;
      const isWhole = video.wholeAt !== null;
      const hash = video.privacy["view"] === "unlisted" ? "/8f3b2c" : "";
      return {
        ...video.fields,
        uri: `/videos/${video.id}${hash.replace("/", ":")}`,
        link: `https://vimeo.com/${video.id}${hash}`,
        created_time: new Date(video.madeAt).toISOString(),
        privacy: video.privacy,
        status: !isWhole ? "uploading" : !isOver ? "transcoding" : (self.failure ?? "available"),
        is_playable: isOver && self.failure === null,
        transcode: { status: isOver ? (self.failure === null ? "complete" : "error") : "in_progress" },
        upload: {
          approach: "tus",
          status: isWhole ? "complete" : "in_progress",
          size: video.total,
          upload_link: isWhole ? null : `${UPLOADS}${video.id}?h=1`,
        },
        stats: { plays: 12 },
        metadata: { connections: { likes: { total: 3 }, comments: { total: 1 } } },
      };
    },
    list(query: URLSearchParams): FakeVideo[] {
      const listed = [...all.values()].filter(({ madeAt }) => now() >= madeAt + self.listedAfterMs);
      return listed.reverse().slice(0, Number(query.get("per_page") ?? 25));
    },
    addPicture(video: FakeVideo): Part {
      const id = String(video.pictures.length + 1);
      video.pictures.push({ id, bytes: null, isActive: false });
      return {
        uri: `/videos/${video.id}/pictures/${id}`,
        link: `${PICTURES}${video.id}/${id}`,
        active: false,
      };
    },
    isFilePlace: (url: URL) => [UPLOADS, PICTURES].some((place) => url.href.startsWith(place)),
    async takeFile(request: Incoming): Promise<Answer> {
      if (request.headers["authorization"] !== undefined) return complain("a token for another host");
      return request.url.href.startsWith(UPLOADS) ? tus(request) : takePicture(request);
    },
  };

  async function takePicture({ method, url, headers, body }: Incoming): Promise<Answer> {
    const [video = "", id] = url.href.slice(PICTURES.length).split("/");
    const picture = all.get(video)?.pictures.find((one) => one.id === id);
    const bytes = await readAll(body);
    const type = headers["content-type"] ?? "";
    if (method !== "PUT" || picture === undefined || !["image/jpeg", "image/png"].includes(type))
      return complain(`picture ${method} ${type}`);
    picture.bytes = bytes;
    return { status: 200, text: "" };
  }

  /** https://tus.io/protocols/resumable-upload, core protocol. */
  async function tus({ method, url, headers, body }: Incoming): Promise<Answer> {
    const video = all.get(url.pathname.split("/").at(-1) ?? "");
    if (headers["tus-resumable"] !== "1.0.0") return complain("tus-resumable");
    if (video === undefined || self.isExpired) {
      await readAll(body);
      return { status: 404, text: "" };
    }
    const told = (): Answer["headers"] => ({
      "tus-resumable": "1.0.0",
      "upload-offset": String(video.received),
      "upload-length": String(video.total),
    });
    if (method === "HEAD") return { status: 200, headers: told() ?? {} };
    if (method !== "PATCH") return complain(`tus by ${method}`);
    if (headers["content-type"] !== "application/offset+octet-stream") return complain("a chunk's type");
    if (Number(headers["upload-offset"]) !== video.received) {
      await readAll(body);
      return { status: 409, text: "" };
    }
    self.chunks += 1;
    await self.onChunk("begun");
    let came = 0;
    for await (const part of body) {
      came += part.length;
      self.bytesIn += part.length;
      video.received += part.length;
    }
    if (Number(headers["content-length"]) !== came) return complain("a chunk of another length");
    if (video.received > video.total) return complain("too many bytes");
    if (video.received === video.total) video.wholeAt ??= now();
    await self.onChunk("stored");
    return { status: 204, headers: told() ?? {} };
  }

  function turn(): void {
    for (const video of all.values()) if (video.privacy["view"] !== "nobody") video.shownAt ??= now();
  }

  function complain(what: string): Answer {
    wrong.push(what);
    return refusal(400, 2204);
  }
  return self;
}
