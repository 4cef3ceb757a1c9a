import { startServers, type ServersOptions } from "./killed-servers.ts";

export interface DraftRace extends ServersOptions {
  readonly drafts: number;
  /** How often one of the processes is killed meanwhile, and started again. */
  readonly kills: number;
}

export interface DraftRaceResult {
  /** How many posts drafts have that were approved: each is to have one a channel. */
  readonly approved: Readonly<Record<number, number>>;
  /** The same of series, which are daily. */
  readonly repeating: Readonly<Record<number, number>>;
  /** Posts of drafts that were sent back. */
  readonly unapproved: number;
  /** Texts that a change slipped in beside an approval. */
  readonly swapped: number;
  readonly kills: number;
}

const CALLERS = 3;

/** No occurrence comes while the test runs. */
const HALF_A_DAY_ON = new Date(Date.now() + 12 * 3_600_000).toISOString().slice(11, 16);

/**
 * Each draft is approved by several callers at once, each third one is changed at the same moment, each fifth is a
 * series, and each seventh is sent back. Meanwhile processes are killed.
 */
export async function raceForDrafts(race: DraftRace): Promise<DraftRaceResult> {
  await using servers = await startServers(race);
  for (let at = 1; at < 3; at++)
    await servers.call(0, "connect_channel", { provider: "feed", name: `Feed ${at}` });
  const { accounts } = await servers.call(0, "list_accounts", {});
  const targets = accounts.map(({ id }: { id: string }) => ({ accountId: id }));
  const ids: string[] = [];
  let kills = 0;
  for (let n = 0; n < race.drafts; n++) {
    const isSeries = n % 5 === 4;
    const time = isSeries
      ? { repeat: { unit: "day", time: HALF_A_DAY_ON, timezone: "UTC" } }
      : { scheduledAt: "2100-01-01T09:00:00Z" };
    const content = { caption: `Draft ${n}`, targets, submit: true, ...time };
    const { draft } = await servers.call(n, "save_draft", content, `save-${n}`);
    const { id } = draft;
    ids.push(id);
    const decision = n % 7 === 6 ? "changes" : "approve";
    const decisions = Array.from({ length: CALLERS }, (_, caller) =>
      servers.call(n + caller, "decide_draft", { id, revision: 1, decision }, `decide-${n}-${caller}`),
    );
    const change =
      n % 3 === 2 ? [servers.call(n, "save_draft", { id, revision: 1, caption: "Swapped" })] : [];
    const isKill = race.kills > kills && n >= ((kills + 1) * race.drafts) / (race.kills + 1);
    await Promise.all([...decisions, ...change, ...(isKill ? [servers.kill(kills++)] : [])]);
  }
  const result = { approved: new Map<number, number>(), repeating: new Map<number, number>() };
  let [unapproved, swapped] = [0, 0];
  for (const id of ids) {
    const { drafts } = await servers.call(0, "list_drafts", { id });
    const [{ state, posts }] = drafts;
    const { posts: found } = await servers.call(0, "list_posts", { draftId: id, limit: 500 });
    const counts = state === "repeating" ? result.repeating : result.approved;
    if (state === "open" || state === "waiting") unapproved += found.length;
    else counts.set(found.length, (counts.get(found.length) ?? 0) + 1);
    if (posts.length !== found.length)
      throw new Error(`${id} shows ${posts.length} of ${found.length} posts.`);
    swapped += found.filter(({ caption }: { caption: string }) => caption === "Swapped").length;
  }
  return {
    approved: Object.fromEntries(result.approved),
    repeating: Object.fromEntries(result.repeating),
    unapproved,
    swapped,
    kills,
  };
}
