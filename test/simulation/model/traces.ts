import { rawOf } from "../../support/handles.ts";
import type { Machine } from "../host.ts";
import type { Network } from "../network.ts";
import type { Realm } from "../world.ts";

/*
 * Histories of the simulation as behaviours of the model: what became of each post in the database and on the network
 * is told in the model's actions, with what the database says after each of them. `quint test` says whether the model
 * can do that. Time is the model's own: as much passes as it asks for, where it may.
 */

/** The platforms that are as the model has them. The others have several steps. */
const CLASSES: Readonly<Record<string, string>> = {
  class_a: "ByServerKey",
  class_b: "ByClientKey",
  class_e: "ByList",
  class_f: "Blind",
};

const ROWS = `SELECT p.id, p.provider, p.caption, p.status, p.fence, p.lease_worker AS lease, p.in_doubt AS inDoubt,
    p.scheduled_at AS dueAt, p.run, e.state, e.sent, e.handle_enc AS handle
  FROM posts p LEFT JOIN effects e ON e.post_id = p.id AND e.run = p.run AND e.step IN ('create', 'send')
  WHERE p.provider IN ('${Object.keys(CLASSES).join("', '")}') ORDER BY p.id`;

const VERSION = "SELECT data_version, total_changes() FROM pragma_data_version";

export interface Row {
  readonly id: string;
  readonly provider: string;
  readonly caption: string;
  readonly status: "scheduled" | "publishing" | "published" | "failed" | "cancelled";
  readonly fence: number;
  readonly lease: string | null;
  readonly inDoubt: number;
  readonly dueAt: number;
  readonly run: number;
  /** Of the step that makes it public. */
  readonly state: "intent" | "done" | "rejected" | "not_sent" | "unknown" | null;
  readonly sent: number | null;
  readonly handle: string | null;
}

const STEPS = {
  intent: "Set(Intent)",
  done: "Set(Done)",
  rejected: "Set(Refused)",
  not_sent: "Set(NotBegun)",
  // An answer that cannot be read leaves it open, too.
  unknown: "Set(Intent, Unknown)",
} as const;

/** Of src/domain/time-limits.ts, as the model counts. */
const [TAKE_OVER, ARRIVES, LISTED_AFTER] = [2, 2, 3];

type Name = "a" | "b";
interface Slot {
  worker: string | null;
  realm: Realm | null;
  isDead: boolean;
  heardAt: number;
  doing: "Nothing" | "Reading" | "Sending" | "Waiting" | "Ending";
}

/** What happened to one post. */
export class Trace {
  readonly steps: string[] = [];
  readonly texts = new Set<string>();
  readonly #slots: Record<Name, Slot> = { a: emptySlot(), b: emptySlot() };
  readonly #underway = new Map<number, { readonly realm: Realm; readonly at: number }>();
  #row: Row | null = null;
  #now = 0;
  #claimableAt = 1;
  #absentAt = -1;
  #sent = 0;
  /** A caller that has asked, and is yet to say what it makes of the answer. */
  #asked: Name | null = null;

  /** A row as it is after something was done in the realm. */
  see(row: Row, realm: Realm): void {
    const before = this.#row;
    this.#row = row;
    this.texts.add(row.caption);
    this.#bury();
    if (before === null) {
      this.#say(`beginAs(${CLASSES[row.provider] ?? ""})`);
      if (row.lease === null) return this.#change(row.fence);
      // It was claimed before it was seen.
      this.#change(row.fence - 1);
      return this.#claim(row, realm);
    }
    if (Object.entries(row).every(([key, value]) => before[key as keyof Row] === value)) return;
    if (row.lease === before.lease) {
      if (row.lease === null) this.#meddle(before, row);
      else this.#work(before, row, this.#nameOf(row.lease));
    } else if (before.lease === null) this.#claim(row, realm);
    else this.#end(before, row, realm);
    if (this.#asked === null) this.#expect(row);
  }

  /** Its request leaves the realm. */
  send(realm: Realm): void {
    const slots = Object.entries(this.#slots) as [Name, Slot][];
    const own = slots.filter((slot) => slot[1].realm === realm);
    const [name, slot] = own.find(([, { doing }]) => doing === "Sending") ?? own[0] ?? slots[0]!;
    this.#say(`send("${name}")`);
    slot.doing = "Waiting";
    this.#underway.set((this.#sent += 1), { realm, at: this.#now });
  }

  /** It has arrived, and so many can be seen now. */
  arrive(realm: Realm, copies: number): void {
    this.#bury();
    const [id] = [...this.#underway].find(([, request]) => request.realm === realm) ?? [0];
    this.#underway.delete(id);
    this.#say(`arrive(${id}, true)`, `expect(s.copies.size() == ${copies})`);
  }

  #say(...steps: readonly string[]): void {
    this.steps.push(...steps);
  }

  #bury(): void {
    for (const [name, slot] of Object.entries(this.#slots)) {
      if (slot.isDead || slot.realm?.isDead !== true) continue;
      slot.isDead = true;
      this.#say(`crash("${name}")`);
    }
  }

  #nameOf(worker: string): Name {
    return this.#slots.a.worker === worker ? "a" : "b";
  }

  /** A place among the model's workers: what was there before ends, if it did not. */
  #nameFor(worker: string, realm: Realm): Name {
    const { a, b } = this.#slots;
    if (a.worker === worker || b.worker === worker) return this.#nameOf(worker);
    const name = a.worker === null || (b.worker !== null && (a.isDead || !b.isDead)) ? "a" : "b";
    this.#revive(name);
    Object.assign(this.#slots[name], { worker, realm });
    return name;
  }

  #revive(name: Name): void {
    const slot = this.#slots[name];
    if (slot.worker !== null && !slot.isDead) this.#say(`crash("${name}")`);
    if (slot.worker !== null) this.#say(`begin("${name}")`);
    Object.assign(slot, emptySlot(), { heardAt: this.#now });
  }

  #wait(until: number): void {
    for (; this.#now < until; this.#say("tick")) {
      for (const [id, { at }] of this.#underway) if (this.#now >= at + ARRIVES) this.#lose(id);
      this.#now += 1;
    }
  }

  #lose(id: number): void {
    if (this.#underway.delete(id)) this.#say(`loseRequest(${id})`);
  }

  #claim(row: Row, realm: Realm): void {
    if (this.#asked !== null) this.#finishAsking(false);
    const name = this.#nameFor(row.lease ?? "", realm);
    if (row.status !== "failed") this.#wait(this.#claimableAt);
    this.#say(`claim("${name}")`);
    this.#slots[name].doing = "Reading";
  }

  /** What its worker writes of the step. */
  #work(before: Row, row: Row, name: Name): void {
    const slot = this.#slots[name];
    const isOpen = before.state === "intent" || before.state === "unknown";
    if (row.state === "intent" && !isOpen) {
      this.#say(`intend("${name}")`);
      slot.doing = "Sending";
    } else if (row.state === "intent" && row.sent !== before.sent) {
      // Where COMMIT was not answered it is written again.
      if (slot.doing !== "Reading") return;
      this.#ask(name);
      this.#absentAt = -1;
      slot.doing = "Sending";
    } else if (row.state !== before.state && slot.doing === "Reading") {
      this.#ask(name);
      if (row.state === "not_sent") this.#say(`noteNotSent("${name}")`);
    } else if (row.state === before.state && row.handle !== before.handle) {
      if (slot.doing !== "Reading" || this.#absentAt >= 0) return;
      this.#ask(name);
      this.#absentAt = this.#now;
    } else if (row.state === "not_sent") {
      if (slot.doing === "Waiting") this.#beRefused(name);
      this.#say(`noteNotSent("${name}")`);
      slot.doing = "Ending";
    } else if (row.state === "done" || row.state === "rejected") {
      if (row.state === "rejected") this.#beRefused(name);
      else this.#say(`hear("${name}")`);
      this.#say(`note("${name}")`);
      slot.doing = "Ending";
    }
  }

  /** Something on the way answered instead of the platform. */
  #beRefused(name: Name): void {
    const [id] = [...this.#underway].find(([, { realm }]) => realm === this.#slots[name].realm) ?? [0];
    this.#underway.delete(id);
    this.#say(`arrive(${id}, false)`, `hear("${name}")`);
  }

  /** Its list tells only after a while. */
  #ask(name: Name): void {
    this.#wait(this.#absentAt < 0 ? this.#now + 1 : this.#absentAt + LISTED_AFTER);
    this.#say(`ask("${name}")`);
    this.#slots[name].doing = "Ending";
  }

  /** Nobody has it any more. */
  #end(before: Row, row: Row, realm: Realm): void {
    const name = this.#nameOf(before.lease ?? "");
    const slot = this.#slots[name];
    const isOwn = slot.realm === realm;
    const isTaken = row.fence !== before.fence && !isOwn;
    if (isTaken) return this.#takeOver(row, name);
    if (slot.doing === "Waiting") {
      for (const [id, request] of this.#underway) if (request.realm === realm) this.#lose(id);
      this.#say(`giveUp("${name}")`);
      slot.doing = "Ending";
    }
    this.#claimableAt = this.#now + 1;
    if (row.fence !== before.fence) this.#say(`letGo("${name}")`);
    else if (before.status === "failed") return void (this.#asked = name);
    else {
      const isFailed = row.status === "failed";
      if (isFailed && row.provider === "class_f" && slot.doing === "Reading" && row.state !== null)
        this.#ask(name);
      this.#say(`finish("${name}", ${isFailed})`);
    }
    slot.doing = "Nothing";
  }

  #takeOver(row: Row, from: Name): void {
    const by = from === "a" ? "b" : "a";
    if (this.#slots[by].isDead) this.#revive(by);
    if (!this.#slots[from].isDead) {
      this.#say(`beCut("${from}")`);
      this.#slots[from].heardAt = this.#now;
      this.#wait(this.#now + TAKE_OVER + 1);
    }
    this.#say(`takeOver("${by}", "${from}")`);
    const isOpen = row.state === "intent" || row.state === "unknown";
    this.#claimableAt = isOpen ? this.#now + 1 + ARRIVES : this.#now;
  }

  /** What a caller asked about is public, or is sent again, or is as it was. */
  #finishAsking(hasAsked: boolean): void {
    const name = this.#asked ?? "a";
    if (hasAsked && this.#slots[name].doing === "Reading") this.#ask(name);
    this.#say(`finish("${name}", false)`);
    this.#slots[name].doing = "Nothing";
    this.#asked = null;
    this.#claimableAt = this.#now + 1;
  }

  /** What people do with a post that nobody works on. */
  #meddle(before: Row, row: Row): void {
    if (this.#asked !== null) {
      const isSettled = row.status === "published" || row.status === "scheduled";
      this.#finishAsking(isSettled);
      if (isSettled) return;
    }
    // What is done at the same time is one commit.
    if (before.status === "scheduled") this.#change(row.fence - before.fence - 1);
    if (row.status === "cancelled") this.#say(before.status === "failed" ? "resolve(true)" : "cancel");
    else if (before.status === "scheduled" && row.status === "failed") this.#say("miss");
    else if (before.status === "failed" && row.status === "scheduled") {
      this.#say("retry");
      this.#claimableAt = this.#now;
    } else if (before.status === "failed" && row.inDoubt !== before.inDoubt) this.#say("resolve(false)");
    else if (row.status === "scheduled") this.#change(1);
  }

  #change(times: number): void {
    for (let left = times; left > 0; left -= 1) {
      this.#say("change");
      this.#claimableAt = this.#now + 2;
    }
  }

  #expect({ status, fence, lease, inDoubt, state }: Row): void {
    const post = [
      `s.post.status == ${status.charAt(0).toUpperCase()}${status.slice(1)}`,
      `s.post.fence == ${fence}`,
      `s.post.lease == "${lease === null ? "" : this.#nameOf(lease)}"`,
      `${state === null ? "Set(NotBegun)" : STEPS[state]}.contains(s.step.is)`,
      ...(lease === null && status !== "cancelled" ? [`s.post.isInDoubt == ${inDoubt === 1}`] : []),
    ];
    this.#say(`expect(${post.join(" and ")})`);
  }
}

function emptySlot(): Slot {
  return { worker: null, realm: null, isDead: false, heardAt: 0, doing: "Nothing" };
}

/** Tells what becomes of each post there, while it does. */
export function follow(traces: Map<string, Trace>, machine: Machine, network: Network): void {
  const copies = new Map<Trace, number>();
  const traceOf = (url: URL, body: string | undefined): Trace | undefined => {
    if (!/^\/[abef]\//.test(url.pathname) || body === undefined || body === "") return undefined;
    const { text } = JSON.parse(body) as { text: string };
    return [...traces.values()].find(({ texts }) => texts.has(text));
  };
  const { note } = machine.world;
  machine.world.note = (line) => {
    const [, text] = /^PUBLIC on class_[abef]: (.*)$/.exec(line) ?? [];
    const trace = text === undefined ? undefined : [...traces.values()].find(({ texts }) => texts.has(text));
    if (trace !== undefined) copies.set(trace, (copies.get(trace) ?? 0) + 1);
    note.call(machine.world, line);
  };
  const { door } = network;
  network.door = (realm) => {
    const own = door.call(network, realm);
    const request: typeof own.request = (asked) => {
      const beforeWriting = (): void => {
        asked.beforeWriting?.();
        traceOf(new URL(asked.url), asked.body?.toString())?.send(realm);
      };
      return own.request({ ...asked, beforeWriting });
    };
    return { ...own, request };
  };
  for (const [name, server] of network.servers)
    network.servers.set(name, (arrived) => {
      const answer = server(arrived);
      const trace = traceOf(arrived.url, arrived.body);
      trace?.arrive(arrived.from, copies.get(trace) ?? 0);
      return answer;
    });
  let seen = "";
  machine.world.onStep = (realm) => {
    const [host] = machine.living;
    if (host === undefined) return;
    const raw = rawOf(host.ctx.store);
    // Of other connections, and of this one.
    const version = JSON.stringify([host.pid, raw.prepare(VERSION).get([])]);
    if (version === seen) return;
    seen = version;
    for (const row of raw.prepare(ROWS).all([]) as Row[]) {
      const trace = traces.get(row.id) ?? new Trace();
      traces.set(row.id, trace);
      trace.see(row, realm);
    }
  };
}

/** A module of tests that the model passes where it can do each of these. */
export function moduleOf(traces: Readonly<Record<string, readonly string[]>>): string {
  const runs = Object.entries(traces).map(([name, [first = "init", ...steps]]) => {
    const rest = steps.map((step) => (step.startsWith("expect") ? `.${step}` : `.then(${step})`));
    return `  run ${name}Test = ${first}${rest.join("\n    ")}`;
  });
  return `module traces {\n  import publishing(WITHOUT = "").*\n\n${runs.join("\n\n")}\n}\n`;
}
