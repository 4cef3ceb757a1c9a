import { createHmac } from "node:crypto";
import { DateTime } from "luxon";
import type { Hook } from "./history.ts";
import type { Answer, Arrived } from "./network.ts";
import type { People } from "./people.ts";
import type { World } from "./world.ts";

/** What a receiver of events was told. */
export interface Told {
  /** Which one: the path of its address. */
  readonly path: string;
  readonly id: string;
  readonly body: string;
  /** True time. */
  readonly at: number;
  /** Whether it answered that it took it. */
  readonly isTaken: boolean;
}

const SECRET = Buffer.alloc(32, 5).toString("base64");

/** The programs at hook.example, which keep all that they are told. */
export class Receivers {
  readonly told: Told[] = [];
  /** What was not signed as it should be. */
  readonly violations: string[] = [];
  isCalm = false;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  serve({ method, url, headers, body, fault }: Arrived): Answer {
    if (method !== "POST") return { status: 200, body: {} };
    const { "webhook-id": id = "", "webhook-timestamp": time, "webhook-signature": signature } = headers;
    const digest = createHmac("sha256", Buffer.from(SECRET, "base64")).update(`${id}.${time}.${body}`);
    if (signature !== `v1,${digest.digest("base64")}`) this.violations.push(`${url.pathname}: not signed`);
    // What a page in between answers looks as if it was taken.
    const isTaken = fault === "html" || this.isCalm || !this.#world.chance(0.1);
    this.told.push({ path: url.pathname, id, body, at: this.#world.now, isTaken });
    this.#world.note(
      `TOLD ${url.pathname}: ${id} ${/"type":"([\w.]+)"/.exec(body)?.[1]}${isTaken ? "" : " → 500"}`,
    );
    return { status: isTaken ? 200 : 500, body: {} };
  }
}

const MOST = 2;

/** A program is to be told of what happens; or of all once more. */
export async function hook(people: People): Promise<void> {
  const { world, hooks } = people;
  const [known] = hooks.filter(({ id }) => id !== null);
  if (hooks.length === MOST && known !== undefined) {
    const since = DateTime.fromMillis(people.clock()).minus({ minutes: 10 }).toUTC().toISO();
    await people.askAndWait("replay_webhook", { id: known.id, since });
  }
  if (hooks.length === MOST) return;
  const path = `/hook${hooks.length + 1}`;
  const channelIds = world.chance(0.5) ? null : [world.pick(people.channels).id];
  const asked = people.ask("create_webhook", {
    url: `https://hook.example${path}`,
    secret: `whsec_${SECRET}`,
    ...(channelIds === null ? {} : { accountIds: channelIds }),
  });
  if (asked === null) return;
  const one: Hook = { path, channelIds, deed: asked.deed, id: null, isRestored: false };
  hooks.push(one);
  const { answer } = await asked.over;
  one.id = (answer["webhook"] as { id?: string } | undefined)?.id ?? null;
}
