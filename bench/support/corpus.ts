/**
 * Made-up posts, the same for every run: words by Zipf's law, accounts of very different size, rare and
 * common statuses.
 */

import type { PostStatus } from "../../src/domain/posts/post-states.ts";

export const BENCH_OWNER = "default";
const OTHER_OWNER = "other";

export interface BenchPost {
  readonly id: string;
  readonly ownerId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly caption: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly scheduledAt: number;
  readonly status: PostStatus;
}

interface BenchAccount {
  readonly id: string;
  readonly ownerId: string;
  readonly provider: string;
}

/** Words planted with a known share of the posts. */
const PLANTED = [
  ["evergreen", 0.5],
  ["tenfold", 0.1],
  ["percentile", 0.01],
  ["thousandth", 0.001],
  ["unicorns", 0.00002],
  ["50%off", 0.0005],
  ["C:\\temp\\report", 0.00003],
  ["🎉", 0.02],
  ["🦄", 0.0001],
  ["#launch-day", 0.01],
] as const;

const PROVIDERS = ["bluesky", "youtube", "instagram", "mastodon", "feed", "webhook"] as const;
const STATUSES = [
  ["published", 0.8779],
  ["scheduled", 0.06],
  ["cancelled", 0.04],
  ["failed", 0.02],
  ["uploaded", 0.002],
  ["publishing", 0.0001],
] as const;
const ACCOUNTS = 400;
const VOCABULARY = 60_000;
const START = Date.UTC(2024, 0, 1);
const SPAN_MINUTES = 3 * 365 * 24 * 60;

/** mulberry32: small, fast, and the same numbers everywhere. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const SYLLABLES =
  "an ar be bo ca ce co da de di do en er es fa fi fo ga ge gra ha he hi ho in is ka ke la le li lo ma me mi mo na ne ni no on or pa pe pi po pra pro ra re ri ro sa se sha si so sta ste ta te ti to tra tri un ur va ve vi wa we wo ya za".split(
    " ",
  );

function makeVocabulary(random: () => number): string[] {
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    const syllables = 1 + Math.floor(random() * 2 + random() * 3);
    let word = "";
    for (let at = 0; at < syllables; at += 1)
      word += SYLLABLES[Math.floor(random() * SYLLABLES.length)] ?? "";
    words.add(random() < 0.02 ? `${word}é` : word);
  }
  return [...words];
}

/** Draws by Zipf's law (exponent 1): the n-th word comes up 1/n as often as the first. */
function zipf(random: () => number, count: number): number {
  return Math.min(count - 1, Math.floor(Math.exp(random() * Math.log(count + 1))) - 1);
}

export function listAccounts(): BenchAccount[] {
  return Array.from({ length: ACCOUNTS }, (_, at) => ({
    id: `acc_${String(at).padStart(26, "0")}`,
    ownerId: at % 20 === 19 ? OTHER_OWNER : BENCH_OWNER,
    provider: PROVIDERS[at % PROVIDERS.length] ?? "feed",
  }));
}

export function* generatePosts(count: number): Generator<BenchPost> {
  const random = createRandom(7);
  const vocabulary = makeVocabulary(random);
  const accounts = listAccounts();
  for (let at = 0; at < count; at += 1) {
    // Squared: the first accounts are hot, the last hundred share a few percent.
    const account = accounts[Math.floor(random() ** 2.2 * accounts.length)] ?? accounts[0];
    if (account === undefined) return;
    const minute = Math.floor(random() * SPAN_MINUTES);
    yield {
      id: `post_${String(at).padStart(26, "0")}`,
      ownerId: account.ownerId,
      accountId: account.id,
      provider: account.provider,
      caption: makeCaption(random, vocabulary),
      metadata: {
        title: makeWords(random, vocabulary, 4 + random() * 5),
        ...makeDescription(random, vocabulary),
      },
      scheduledAt: START + (random() < 0.3 ? minute - (minute % 60) : minute) * 60_000,
      status: pickStatus(random()),
    };
  }
}

function makeCaption(random: () => number, vocabulary: readonly string[]): string {
  const planted = PLANTED.filter(([, share]) => random() < share).map(([word]) => word);
  const order = random() < 0.05 ? [`order${String(Math.floor(random() * 1e9)).padStart(9, "0")}`] : [];
  const body =
    random() < 0.1 ? makeHan(random, 20 + random() * 60) : makeWords(random, vocabulary, 12 + random() * 40);
  return [body, ...planted, ...order].join(" ");
}

function makeDescription(
  random: () => number,
  vocabulary: readonly string[],
): { description?: string; tags?: string[] } {
  if (random() < 0.4) return { tags: ["tagged", "alpha"] };
  return { description: makeWords(random, vocabulary, 10 + random() * 60) };
}

function makeWords(random: () => number, vocabulary: readonly string[], count: number): string {
  const words = Array.from(
    { length: Math.floor(count) },
    () => vocabulary[zipf(random, vocabulary.length)] ?? "",
  );
  return `${words.join(" ").replace(/^./u, (first) => first.toUpperCase())}${random() < 0.5 ? "." : "!"}`;
}

function makeHan(random: () => number, count: number): string {
  return Array.from({ length: Math.floor(count) }, () =>
    String.fromCodePoint(0x4e00 + zipf(random, 3_000)),
  ).join("");
}

function pickStatus(draw: number): PostStatus {
  let rest = draw;
  for (const [status, share] of STATUSES) {
    if (rest < share) return status;
    rest -= share;
  }
  return "published";
}
