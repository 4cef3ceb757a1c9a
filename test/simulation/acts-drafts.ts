import type { Deed, Version } from "./history.ts";
import { idIn, iso, momentIn, newWish, type People } from "./people.ts";

/** One writes, somebody changes it meanwhile perhaps, and a person decides about what they saw. */
export async function draft(people: People): Promise<void> {
  const { world } = people;
  const channel = world.pick(people.channels);
  const name = people.newName();
  const isTimed = world.chance(0.6);
  const at = momentIn(people, world.between(30_000, 8 * 60_000));
  const text = (version: number): string => `${name} v${version}`;
  const wish = newWish(name, channel, [], []);
  people.wishes.push(wish);
  const save = async (more: Record<string, unknown>): Promise<Deed | null> => {
    const caption = text(wish.versions.length + 1);
    const asked = people.ask("save_draft", { caption, submit: true, ...more });
    if (asked === null) return null;
    const version: Version = {
      text: caption,
      scheduledAt: isTimed ? at : -Infinity,
      deed: asked.deed,
      revision: null,
    };
    wish.versions.push(version);
    const deed = await asked.over;
    version.revision = (deed.answer["draft"] as { revision?: number } | undefined)?.revision ?? null;
    return deed;
  };
  const first = await save({
    targets: [{ accountId: channel.id }],
    ...(isTimed ? { scheduledAt: iso(at) } : {}),
  });
  const id = first === null ? null : idIn(first, "draft");
  if (id === null) return;
  const edits = async (): Promise<void> => {
    for (let left = world.between(0, 2); left > 0; left -= 1) {
      await world.sleep(world.between(0, 20_000));
      const revision = wish.versions.findLast((version) => typeof version.revision === "number")?.revision;
      await save({ id, revision });
    }
  };
  // They read it, go away, and decide about what they have read: some just when it is due.
  const decides = async (): Promise<void> => {
    const isPunctual = isTimed && world.chance(0.3);
    for (let tries = 0; tries < 4; tries += 1) {
      const seen = wish.versions.findLast(({ revision }) => typeof revision === "number");
      if (seen?.revision === undefined || seen.revision === null) return;
      await (isPunctual && tries === 0 ? people.sleepUntil(at) : world.sleep(world.between(100, 30_000)));
      const isNo = world.chance(0.15);
      const key = world.chance(0.5) ? { idempotencyKey: `decide ${name} ${wish.approvals?.length}` } : {};
      const args = { id, revision: seen.revision, decision: isNo ? "discard" : "approve", ...key };
      const asked = people.ask("decide_draft", args);
      if (asked === null) return;
      (isNo ? wish.cancels : wish.approvals)?.push(asked.deed);
      const deed = await asked.over;
      const posts = (deed.answer["draft"] as { posts?: { id: string }[] } | undefined)?.posts ?? [];
      wish.id ??= posts[0]?.id ?? null;
      if (deed.outcome === "done") return;
    }
  };
  // Two people may decide at the same moment.
  await Promise.all([edits(), decides(), ...(world.chance(0.3) ? [decides()] : [])]);
}
