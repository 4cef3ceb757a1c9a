import tlds from "tlds" with { type: "json" };

/** twitter-text, configuration 3: these code points count 1, all others 2. */
const LIGHT: readonly (readonly [first: number, last: number])[] = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
];
/** Whatever its length, an address is shortened to t.co's. */
const URL_WEIGHT = 23;
const EMOJI_WEIGHT = 2;

/** The language level that types are checked at does not know the flag v, Node does. */
const EMOJI = new RegExp(
  "\\p{RGI_Emoji}|[0-9#*]\\u20e3|\\p{Extended_Pictographic}\\ufe0f?(?:\\u200d\\p{Extended_Pictographic}\\ufe0f?)+",
  "gv",
);

const TOP_LEVEL_DOMAINS: ReadonlySet<string> = new Set(tlds);

const NAME = "[\\p{L}\\p{N}](?:[\\p{L}\\p{N}_-]{0,61}[\\p{L}\\p{N}])?";
const LATIN = "[a-z0-9\\u00c0-\\u024f](?:[a-z0-9_\\u00c0-\\u024f-]{0,61}[a-z0-9\\u00c0-\\u024f])?";
const TAIL = "[a-z0-9\\u00c0-\\u024f\\u0400-\\u04ff!*';:=+,.$/%#[\\]\\-\\u2013_~@|&()]";
const AFTER_HOST = `(?![a-z0-9@+-])(?::\\d+)?(?:/${TAIL}*)?(?:\\?[a-z0-9!?*'@();:&=+$/%#[\\]\\-_.,~|]*)?`;

const WITH_SCHEME = new RegExp(
  `(?<![a-z0-9@＠$#＃])https?://(?<host>(?:${NAME}\\.)+(?:xn--[a-z0-9-]+|\\p{L}{2,}))${AFTER_HOST}`,
  "giu",
);
const BARE = new RegExp(
  `(?<![a-z0-9@＠$#＃\\-_./])(?<host>(?:${LATIN}\\.)+(?:xn--[a-z0-9-]+|[a-z]{2,}))${AFTER_HOST}`,
  "giu",
);

/** What X counts in a text: each address 23, each emoji 2, CJK and most symbols 2, the rest 1. */
export function measure(text: string): number {
  const whole = splitAt(WITH_SCHEME, text.normalize("NFC"));
  const bare = whole.map((part) => splitAt(BARE, part));
  const urls = whole.length - 1 + bare.reduce((sum, parts) => sum + parts.length - 1, 0);
  return bare.flat().reduce((sum, part) => sum + weigh(part), urls * URL_WEIGHT);
}

/** What stands around the addresses in a text. */
function splitAt(pattern: RegExp, text: string): string[] {
  const rest: string[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (!isDomain(match.groups?.["host"] ?? "")) continue;
    rest.push(text.slice(end, match.index));
    end = match.index + withoutTail(match[0]).length;
  }
  return [...rest, text.slice(end)];
}

function isDomain(host: string): boolean {
  const [name = "", last = ""] = host.toLowerCase().split(".").slice(-2);
  return !name.includes("_") && (last.startsWith("xn--") || TOP_LEVEL_DOMAINS.has(last));
}

/** Without what ends the sentence, and up to a bracket that is opened or closed alone. */
function withoutTail(address: string): string {
  const open: number[] = [];
  let end = address.length;
  for (let at = 0; at < end; at += 1) {
    if (address[at] === "(") open.push(at);
    else if (address[at] === ")" && open.pop() === undefined) end = at;
  }
  end = open[0] ?? end;
  while ("!*';:,.?$%@[]|&".includes(address[end - 1] ?? "/")) end -= 1;
  return address.slice(0, end);
}

function weigh(text: string): number {
  let weight = 0;
  const plain = text.replaceAll(EMOJI, (emoji) => {
    // A sign that is light by itself (©) is no emoji to X until it is made one.
    if (emoji.length === 1 && isLight(emoji)) return emoji;
    weight += EMOJI_WEIGHT;
    return "";
  });
  for (const character of plain) weight += isLight(character) ? 1 : 2;
  return weight;
}

function isLight(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return LIGHT.some(([first, last]) => code >= first && code <= last);
}
