/** A request as it came in; the body is read by whoever needs it. */
export interface Incoming {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Buffer>;
}

export async function readAll(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/** An answer of the fake. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
}

export const json = (value: unknown, status = 200): Answer => ({ status, json: value });

/** An error as Google's APIs write it. */
export function refusal(code: number, reason: string, message = reason, domain = "youtube"): Answer {
  return json({ error: { code, message, errors: [{ message, domain, reason }] } }, code);
}

export const UNAUTHORIZED: Answer = {
  status: 401,
  json: {
    error: {
      code: 401,
      message: "Request had invalid authentication credentials.",
      errors: [
        { message: "Invalid Credentials", domain: "global", reason: "authError", location: "Authorization" },
      ],
      status: "UNAUTHENTICATED",
    },
  },
};

/** Seen since May 2026, beside quota that is left. */
export const UPLOADS_OF_DAY = refusal(
  429,
  "rateLimitExceeded",
  "Quota exceeded for quota metric 'Video Uploads' and limit 'Video Uploads per day' of service 'youtube.googleapis.com' for consumer 'project_number:1'.",
);

export const QUOTA_EXCEEDED = refusal(
  403,
  "quotaExceeded",
  'The request cannot be completed because you have exceeded your <a href="/youtube/v3/getting-started#quota">quota</a>.',
  "youtube.quota",
);
