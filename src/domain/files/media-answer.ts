/** Why an answer is not the media that was asked for. `isLasting`: asking again would not help. */
export interface MediaProblem {
  readonly isLasting: boolean;
  /** Begins with a small letter, for a subject to be put before it. */
  readonly reason: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Statuses of the 4xx that pass by themselves. */
const PASSING: readonly number[] = [408, 425, 429];

/** What is wrong with an answer that should hold media, before its body is read; null: nothing. */
export function problemOfAnswer(answer: Answer, maxBytes: number): MediaProblem | null {
  const { status, headers } = answer;
  if (status !== 200) {
    const isLasting = status < 500 && !PASSING.includes(status);
    return {
      isLasting,
      reason: `the address answers with HTTP ${status}. It must answer with the file itself`,
    };
  }
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    return {
      isLasting: true,
      reason:
        "the address sends the file compressed, although it was asked not to. Use one that sends it as it is",
    };
  }
  const sizeBytes = declaredBytes(headers);
  return sizeBytes !== null && sizeBytes > maxBytes ? tooLarge(maxBytes) : null;
}

export function tooLarge(maxBytes: number): MediaProblem {
  return { isLasting: true, reason: `the file is larger than ${maxBytes} bytes. Give a smaller one` };
}

/** `Content-Length`, or null where there is none. */
export function declaredBytes(headers: Readonly<Record<string, string>>): number | null {
  const text = headers["content-length"];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
