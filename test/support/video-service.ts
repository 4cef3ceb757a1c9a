import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";

interface Job {
  readonly jobId: string;
  readonly did: string;
  state: string;
  error?: string;
  failureCode?: string;
  blob?: unknown;
  /** Questions until it is done. */
  left: number;
  readonly bytes: Buffer;
  readonly token: string;
}

interface VideoService extends AsyncDisposable {
  readonly url: string;
  /** Bodies that arrived whole. */
  readonly uploads: readonly Buffer[];
  /** Statuses asked for. */
  readonly polls: number;
  /** Refuses every upload with this error. */
  refusal: { readonly status: number; readonly error: string } | null;
  /** Ends every job with this failure. */
  failure: string | null;
}

/**
 * Bluesky's video service in small: takes a video with a token of the account's server, and stores it there
 * with that token alone, as the real one does when it is done. The same bytes again are answered with the
 * first job and `already_exists`.
 */
export async function startVideoService(
  pdsUrl: string,
  options: { readonly polls: number; readonly isBare?: boolean },
): Promise<VideoService> {
  const jobs = new Map<string, Job>();
  const state: {
    uploads: Buffer[];
    polls: number;
    refusal: VideoService["refusal"];
    failure: string | null;
  } = {
    uploads: [],
    polls: 0,
    refusal: null,
    failure: null,
  };

  const shown = (job: Job): object => {
    const { bytes: _bytes, token: _token, left: _left, ...status } = job;
    return options.isBare === true ? status : { jobStatus: status };
  };

  const upload = async (request: IncomingMessage, url: URL): Promise<[number, object]> => {
    const bytes = await buffer(request);
    if (bytes.length !== Number(request.headers["content-length"])) return [400, { error: "InvalidRequest" }];
    state.uploads.push(bytes);
    if (state.refusal !== null) return [state.refusal.status, { error: state.refusal.error }];
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const jobId = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
    const known = jobs.get(jobId);
    if (known !== undefined) return [409, shown({ ...known, error: "already_exists" })];
    const job: Job = {
      jobId,
      did: url.searchParams.get("did") ?? "",
      state: "JOB_STATE_CREATED",
      left: options.polls,
      bytes,
      token,
    };
    jobs.set(jobId, job);
    return [200, shown(job)];
  };

  const poll = async (url: URL): Promise<[number, object]> => {
    state.polls += 1;
    const job = jobs.get(url.searchParams.get("jobId") ?? "");
    if (job === undefined) return [400, { error: "InvalidRequest", message: "No such job" }];
    job.left -= 1;
    if (job.left > 0) job.state = "JOB_STATE_ENCODING";
    else if (state.failure !== null)
      Object.assign(job, { state: "JOB_STATE_FAILED", failureCode: state.failure });
    else if (job.blob === undefined)
      Object.assign(job, { state: "JOB_STATE_COMPLETED", blob: await store(pdsUrl, job) });
    return [200, shown(job)];
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://video");
    const answer = url.pathname.endsWith("uploadVideo") ? upload(request, url) : poll(url);
    answer.then(
      ([status, body]) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const listening = await listen(server);
  return Object.assign(state, {
    url: listening.origin,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  });
}

/** The account's server checks that the token is good for this one call. */
async function store(pdsUrl: string, job: Job): Promise<unknown> {
  const response = await fetch(`${pdsUrl}/xrpc/com.atproto.repo.uploadBlob`, {
    method: "POST",
    headers: { authorization: `Bearer ${job.token}`, "content-type": "video/mp4" },
    body: new Uint8Array(job.bytes),
  });
  const body = (await response.json()) as { blob?: unknown };
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body.blob;
}
