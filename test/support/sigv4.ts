import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

interface SignedRequest {
  readonly method: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** An S3 error: status, code. */
export type Refusal = readonly [status: number, code: string];

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** RFC 3986, as SigV4 wants it. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export function signatureOf(
  request: SignedRequest,
  signing: Credentials & {
    readonly signedHeaders: readonly string[];
    readonly date: string;
    readonly payload: string;
  },
): string {
  const url = new URL(request.target, "http://any");
  const canonical = [
    request.method,
    url.pathname
      .split("/")
      .map((part) => encode(decodeURIComponent(part)))
      .join("/"),
    canonicalQuery(url.searchParams),
    ...signing.signedHeaders.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? "")
          .trim()
          .replace(/ +/g, " ")}`,
    ),
    "",
    signing.signedHeaders.join(";"),
    signing.payload,
  ].join("\n");
  const day = signing.date.slice(0, 8);
  const scope = `${day}/${signing.region}/s3/aws4_request`;
  const key = [signing.region, "s3", "aws4_request"].reduce<Buffer>(
    (each, part) => hmac(each, part),
    hmac(`AWS4${signing.secretAccessKey}`, day),
  );
  return hmac(key, ["AWS4-HMAC-SHA256", signing.date, scope, sha256(canonical)].join("\n")).toString("hex");
}

const MAX_SKEW_MS = 15 * 60_000;

/**
 * What S3 would say against a request's signature; null: nothing. `payload` is what stands for the body in
 * it.
 */
export function refuseSignature(
  request: SignedRequest,
  known: Credentials,
  now: number,
): { refusal: Refusal | null; payload: string } {
  const query = new URL(request.target, "http://any").searchParams;
  const payload = String(request.headers["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD");
  const parts = query.has("X-Amz-Signature") ? fromQuery(query) : fromHeader(request);
  if (parts === null) return { refusal: [403, "AccessDenied"], payload };
  return { refusal: judge(request, known, { ...parts, now, payload }), payload };
}

interface Parts {
  readonly credential: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly date: string;
  /** Of a signed address. */
  readonly expiresSeconds: number | null;
}

function fromHeader({ headers }: SignedRequest): Parts | null {
  const match = /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/.exec(
    String(headers["authorization"]),
  );
  if (match === null || headers["x-amz-content-sha256"] === undefined) return null;
  const [, credential = "", signed = "", signature = ""] = match;
  return {
    credential,
    signedHeaders: signed.split(";"),
    signature,
    date: String(headers["x-amz-date"]),
    expiresSeconds: null,
  };
}

function fromQuery(query: URLSearchParams): Parts | null {
  const get = (name: string): string => query.get(`X-Amz-${name}`) ?? "";
  if (get("Algorithm") !== "AWS4-HMAC-SHA256") return null;
  const [credential, signature, date] = [get("Credential"), get("Signature"), get("Date")];
  return {
    credential,
    signature,
    date,
    signedHeaders: get("SignedHeaders").split(";"),
    expiresSeconds: Number(get("Expires")),
  };
}

function judge(
  request: SignedRequest,
  known: Credentials,
  parts: Parts & { now: number; payload: string },
): Refusal | null {
  const [accessKeyId, day, region, service, end] = parts.credential.split("/");
  if (accessKeyId !== known.accessKeyId) return [403, "InvalidAccessKeyId"];
  const signedAt = Date.parse(
    parts.date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  const isScope =
    region === known.region && service === "s3" && end === "aws4_request" && day === parts.date.slice(0, 8);
  if (!isScope) return [400, "AuthorizationHeaderMalformed"];
  const { expiresSeconds } = parts;
  if (!Number.isFinite(signedAt)) return [403, "AccessDenied"];
  if (expiresSeconds === null && Math.abs(parts.now - signedAt) > MAX_SKEW_MS)
    return [403, "RequestTimeTooSkewed"];
  if (expiresSeconds !== null) {
    if (!(expiresSeconds >= 1 && expiresSeconds <= 604_800))
      return [400, "AuthorizationQueryParametersError"];
    if (parts.now > signedAt + expiresSeconds * 1_000) return [403, "AccessDenied"];
  }
  // What is not signed could be changed on the way.
  const mustBeSigned = Object.keys(request.headers).filter(
    (name) => name === "host" || name === "content-md5" || name.startsWith("x-amz-"),
  );
  if (!mustBeSigned.every((name) => parts.signedHeaders.includes(name))) return [403, "AccessDenied"];
  const wanted = Buffer.from(signatureOf(request, { ...known, ...parts }));
  const given = Buffer.from(parts.signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given)
    ? null
    : [403, "SignatureDoesNotMatch"];
}
