import type { Utm } from "../accounts/schedule.ts";
import { parseUrl } from "../parse-url.ts";
import { WEB_ADDRESS } from "./caption.ts";
import type { Metadata } from "./post.ts";
import { mapTexts } from "./texts.ts";

/** Where posts live. Who shares a link to there does not see what is added to it. */
const PLATFORM_SITES: readonly string[] = (
  "bsky.app dailymotion.com dai.ly dev.to discord.com discord.gg facebook.com fb.com fb.watch instagram.com linkedin.com " +
  "lnkd.in matrix.to mastodon.social pin.it pinterest.com pixelfed.social reddit.com redd.it slack.com t.co t.me " +
  "telegram.me threads.com threads.net tiktok.com tumblr.com twitter.com vimeo.com wa.me whatsapp.com x.com youtu.be youtube.com"
).split(" ");

interface UtmWish {
  readonly utm: Utm;
  readonly provider: string;
  /** The post's first label; "" where it has none. */
  readonly label: string;
}

interface Texts {
  readonly caption?: string | null | undefined;
  readonly metadata?: Metadata | null | undefined;
}

/**
 * The texts with the parameters added to each link in the caption, in those of the thread, in the first comment, and to
 * `link`. A link that has a `utm_` parameter stays as it is, and so does one to a platform. Texts that are not
 * there stay so.
 */
export function withUtm<T extends Texts>(texts: T, wish: UtmWish): T {
  const parameters = parametersOf(wish);
  if (parameters === "") return texts;
  const tag = (text: string): string => text.replace(WEB_ADDRESS, (url) => tagged(url, parameters));
  return mapTexts(texts, ["link", "firstComment"], tag);
}

function parametersOf({ utm, provider, label }: UtmWish): string {
  const fill = (text: string): string => text.replaceAll("{provider}", provider).replaceAll("{label}", label);
  return (["source", "medium", "campaign"] as const)
    .map((name) => [name, fill(utm[name] ?? "")] as const)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `utm_${name}=${encodeURIComponent(value)}`)
    .join("&");
}

/** Everything else of the address stays as it was written. */
function tagged(url: string, parameters: string): string {
  const read = parseUrl(url);
  if (read === null) return url;
  const isOfPlatform = PLATFORM_SITES.some(
    (site) => read.hostname === site || read.hostname.endsWith(`.${site}`),
  );
  if (isOfPlatform || [...read.searchParams.keys()].some((name) => /^utm_/i.test(name))) return url;
  const at = url.indexOf("#");
  const [address, rest] = at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at)];
  const joint = !address.includes("?") ? "?" : /[?&]$/.test(address) ? "" : "&";
  return `${address}${joint}${parameters}${rest}`;
}
