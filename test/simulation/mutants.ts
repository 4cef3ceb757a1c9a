/** A deliberate fault of the product: one small exact change of one file. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Stands in the file once. */
  readonly from: string;
  readonly to: string;
}

type Fault = readonly [name: string, from: string, to: string];

/**
 * What a hasty developer could get wrong, by the file that it would be in. The simulation must find it: what another
 * guard makes up for is none.
 */
const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  "src/publishing/effects.ts": [
    [
      "intent written beside the send",
      "  await intend(at, spec, at.ctx.clock.now());\n  at.ctx",
      "  void intend(at, spec, at.ctx.clock.now());\n  at.ctx",
    ],
    [
      "intent written after the send",
      `  await intend(at, spec, at.ctx.clock.now());
  at.ctx.store.liveness.check();
  at.signal.throwIfAborted();
  const context = contextOf(at, spec.step, true);
  const asked = at.requestsBegun();
  let result: R;
  try {
    result = await spec.send(context);`,
      `  const asked = at.requestsBegun();
  let result: R;
  try {
    const context = contextOf(at, spec.step);
    result = await spec.send({ ...context, saveHandle: async () => {} });
    await intend(at, spec, at.ctx.clock.now());`,
    ],
    [
      "result not written",
      "it was sent.\n  await finishDone(at, spec, result);",
      "it was sent.\n  void finishDone;",
    ],
    [
      "done step sent again",
      `if (known?.state === "done") {\n    const result`,
      `if (known?.state === "done" && spec.live !== undefined) {\n    const result`,
    ],
    ["open step sent without asking", "known !== undefined && isOpenStep(known) ? known : null", "null"],
    [
      "rejected for lost",
      `if (error.kind === "rejected") return "rejected";`,
      `if (error.kind !== "rate") return "rejected";`,
    ],
    [
      "ambiguous for not sent",
      `return error.isNotDone ? "not_sent" : "intent";`,
      `return error.isNotDone || error.kind === "ambiguous" ? "not_sent" : "intent";`,
    ],
    ["everything for not sent", `return error.isNotDone ? "not_sent" : "intent";`, `return "not_sent";`],
    [
      "doubt forgotten with send_again",
      "send(at, spec, found.isStillInDoubt ?? false)",
      "send(at, spec, false)",
    ],
    ["doubt forgotten when refused", `  if (isInDoubt) return "intent";\n`, ""],
    [
      "lateness limit ignored in a run",
      "if (at.ctx.clock.now() > at.deadline) await",
      "if (at.deadline < 0) await",
    ],
    [
      "restored step sent without asking",
      "if (at.inDoubtSince === null) return send(at, spec, false);",
      "return send(at, spec, false);",
    ],
    [
      "restored post counts as whole ledger",
      "row.step === RESTORED_STEP)?.started_at ?? null",
      "false)?.started_at ?? null",
    ],
  ],
  "src/publishing/effect-steps.ts": [
    [
      "new key with each claim",
      'if (known !== undefined) return known;\n  return at.ctx.cipher.sign("effect key", `${at.lease.postId}|${at.run}|${step}`)',
      'void known;\n  return at.ctx.cipher.sign("effect key", `${at.lease.postId}|${at.lease.fence}|${step}`)',
    ],
  ],
  "src/publishing/run.ts": [
    [
      "live post fails with its comment",
      "live === null ? verdictOnError(error, situation)",
      "true ? verdictOnError(error, situation)",
    ],
    [
      "stopped post waits as if untouched",
      `at.isUploaded || at.isPublished || at.hasTouchedPlatform ? null : "release"`,
      `at.isUploaded || at.isPublished ? null : "release"`,
    ],
  ],
  "src/publishing/verdict.ts": [
    [
      "unknown said to be failed for certain",
      `trigger: "fail", nextAt: null, error, isInDoubt: true, tries: 0`,
      `trigger: "fail", nextAt: null, error, isInDoubt: false, tries: 0`,
    ],
    [
      "unknown tried again",
      "if (error instanceof OutcomeUnknown) return unknown(error.message, at);",
      "if (error instanceof OutcomeUnknown) return retryLater(error.message, at);",
    ],
    [
      "post in doubt waits as if unsent",
      `resultOf(at, "retrying", { trigger: null, nextAt, isInDoubt: true, tries, attempt })`,
      `resultOf(at, "retrying", { trigger: "release", nextAt, isInDoubt: true, tries, attempt })`,
    ],
    [
      "post in doubt waits as if unsent behind a limit",
      "at.isUploaded || at.isOpen ? null",
      "at.isUploaded ? null",
    ],
    [
      "refusal after a doubt believed",
      "return at.isOpen ? ask() : failed(why, at);",
      "return failed(why, at);",
    ],
    [
      "trouble after a doubt fails for certain",
      "return at.isOpen ? ask() : retryLater(why, at);",
      "return retryLater(why, at);",
    ],
    [
      "Retry-After ignored",
      "Math.max(fault.retryAfterMs ?? rateBackoffMs(at.tries, at.random), SECOND)",
      "Math.max(Math.min(fault.retryAfterMs ?? 0, SECOND), SECOND)",
    ],
    [
      "limit holds up only its post",
      `const accountWait = { until: allowedAt, cause: "rate_limit", scope: fault.scope } as const;`,
      "const accountWait = null;",
    ],
    [
      "what follows a live post forgotten",
      "nextAt: isOver ? null : nextAt,",
      "nextAt: isOver ? nextAt : null,",
    ],
    [
      "no wait between tries",
      "return Math.max(500, Math.round(random * ceiling));",
      "return Math.min(0, ceiling * random);",
    ],
    [
      "order lost behind a failing post",
      "const accountWait = { until, cause",
      "const accountWait = { until: at.now, cause",
    ],
  ],
  "src/publishing/claim.ts": [
    ["due a second early", "now: () => clock.now(),", "now: () => clock.now() + SECOND,"],
    ["due by the wrong clock", "now: () => clock.now(),", "now: () => clock.monotonic(),"],
    ["missed long before its limit", "now - settings.maxLatenessMs;", "now - MINUTE;"],
  ],
  "src/publishing/clock-watch.ts": [
    ["clock that jumped is believed at once", "return this.#wall < this.#hold.wall &&", "return false &&"],
  ],
  "src/publishing/loop.ts": [
    ["sweep misses all", "if (this.#isSweepDue) await sweep(this.#ctx);", "void sweep;"],
    ["nothing taken over", "    await takeOverFromDead(this.#ctx);\n", "    void takeOverFromDead;\n"],
    [
      "heartbeat stops",
      "clock.monotonic() - this.#lastBeat >= HEARTBEAT_EVERY_MS ||",
      "this.#lastBeat < HEARTBEAT_EVERY_MS - HEARTBEAT_EVERY_MS ||",
    ],
    ["end does not wait for what runs", "await Promise.all(this.#running);", ""],
    ["unwritten end forgotten", "this.#unwritten = [...this.#unwritten, lease];", "void lease;"],
    ["timer never armed", "this.#timer = setTimeout(() => this.wake(), Math.ceil(Math.max(0, leftMs)));", ""],
    [
      "end of a post wakes nobody",
      "      this.#isWakingUp = false;\n      this.wake();",
      "      this.#isWakingUp = false;",
    ],
    ["posts in quarantine never claimed", "    await this.#claimQuarantined();\n", ""],
  ],
  "src/publishing/running-publisher.ts": [
    ["wake lost", "ctx.links.wakePublisher = () => kept.current()?.wake();", ""],
    ["epoch not advanced", "    await advanceEpoch(store, file);\n", "    void advanceEpoch;\n"],
  ],
  "src/publishing/restored.ts": [
    [
      "restore not noticed",
      "if (own !== null && !isOlder(own, readEpochFile(file))) return;",
      "if (own !== null) return;",
    ],
  ],
  "src/store/queries/publishing/restored-posts.ts": [
    ["restored posts not marked", "for (const which of [waiting, inDoubt", "for (const which of [inDoubt"],
    ["restored doubts not marked", "for (const which of [waiting, inDoubt", "for (const which of [waiting"],
  ],
  "src/store/queries/publishing/claims.ts": [
    ["account not occupied", "  await occupyAccounts(tx, found);\n", "  void occupyAccounts;\n"],
    ["fence not raised by a claim", "      fence: sql`fence + 1`,\n", ""],
    ["left-over posts all at once", "  if (ids.length === 0) return;\n", "  return;\n"],
    [
      "waits not brought forward when the clock goes back",
      "  await bringForward(tx, now, backMs);\n",
      "  void bringForward;\n",
    ],
  ],
  "src/store/queries/publishing/ledger.ts": [
    ["doubt not stored", "in_doubt: end.isInDoubt ? 1 : 0,", "in_doubt: 0,"],
    ["next try not stored", "      next_at: end.nextAt,\n", "      next_at: null,\n"],
    [
      "account not freed after a run",
      "THEN NULL ELSE in_flight_post END`,\n      freed_at",
      "THEN in_flight_post ELSE in_flight_post END`,\n      freed_at",
    ],
    ["limit of a channel not stored", "(accountWait === null ? {} : waiting(accountWait))", "{}"],
  ],
  "src/store/queries/publishing/release.ts": [
    [
      "take-over from the living",
      `const posts = await lockPosts(tx, (eb) => eb("lease_worker", "=", workerId));`,
      `const posts = await lockPosts(tx, (eb) => eb("lease_worker", "is not", workerId.slice(0, 0) || null));`,
    ],
    [
      "crash not counted",
      "if (isCrash && (await countCrash(tx, post, { now, ended })))",
      'if (isCrash && post.id === "" && (await countCrash(tx, post, { now, ended })))',
    ],
    [
      "account of a dead process not freed",
      "UPDATE accounts SET in_flight_post = NULL, freed_at",
      "UPDATE accounts SET freed_at",
    ],
    [
      "crashed post fails for certain",
      "CASE WHEN p.in_doubt = 1 OR p.status = 'uploaded' OR EXISTS (",
      "CASE WHEN p.status = 'uploaded' AND EXISTS (",
    ],
    [
      "asked before it can have arrived",
      "post.is_open === 1 ? arrivedAt : -Infinity",
      "post.is_open > 1 ? arrivedAt : -Infinity",
    ],
  ],
  "src/store/sqlite/claims.ts": [
    ["paused channel claimed", "AND a.paused = 0 AND a.in_flight_post", "AND a.in_flight_post"],
    ["several posts of an account in flight", "a.in_flight_post IS NULL AND ", ""],
    [
      "channel that must wait claimed",
      "AND a.next_allowed_at <= ?",
      "AND a.next_allowed_at <= ? + 9000000000000",
    ],
    [
      "newest of a channel first",
      "ORDER BY h.due_at, h.id LIMIT 1",
      "ORDER BY h.due_at DESC, h.id DESC LIMIT 1",
    ],
    [
      "leased post claimed",
      "h.next_at IS NOT NULL AND h.lease_worker IS NULL AND",
      "h.next_at IS NOT NULL AND",
    ],
  ],
  "src/store/queries/posts.ts": [
    [
      "cancel and update do not look at the state",
      `    .where("status", "in", [...from])\n    .where(({ eb, or })`,
      `    .where(({ eb, or })`,
    ],
    ["slot not freed with its post", "      ...slotOf(set),\n", ""],
  ],
  "src/domain/posts/post-states.ts": [
    [
      "cancel of a post that was begun",
      `cancel: { from: ["scheduled"], to`,
      `cancel: { from: ["scheduled", "publishing"], to`,
    ],
    [
      "update of a post that was begun",
      `edit: { from: ["scheduled"], to`,
      `edit: { from: ["scheduled", "publishing"], to`,
    ],
  ],
  "src/posts/posts.ts": [
    [
      "cancelled post stays due",
      `movePost(call, row, "cancel", { next_at: null, error: null }, told)`,
      `movePost(call, row, "cancel", { error: null }, told)`,
    ],
  ],
  "src/posts/update-post.ts": [
    [
      "update of what others changed meanwhile",
      `now?.status === "scheduled" && CONTENT.some(`,
      `now === null && CONTENT.some(`,
    ],
    [
      "update keeps the old ledger",
      "(await hasEffects(tx, before)) ? before.run + 1 : before.run",
      "(await hasEffects(tx, before)) ? before.run : before.run",
    ],
    [
      "update keeps the old time to start",
      "const begun = { next_at: checked.row.due_at, error",
      "const begun = { next_at: before.next_at, error",
    ],
    [
      "retry of a doubt begins anew",
      "const run = row.in_doubt === 1 && !isChanged ? row.run : row.run + 1;",
      "const run = row.run + 1;",
    ],
  ],
  "src/posts/slots.ts": [
    [
      "slot too close to others",
      "return listWaitingTimes(reader, id, after - plan.minGapMinutes * MINUTE);",
      "return listWaitingTimes(reader, id, after + plan.minGapMinutes * MINUTE);",
    ],
  ],
  "src/posts/store-posts.ts": [
    [
      "slot read outside of the transaction",
      "await takeSlot(tx, { owner_id",
      "await takeSlot(ctx.store, { owner_id",
    ],
    ["posts of a call share a slot", `if ("row" in one) taken.push(one.row);`, ""],
  ],
  "src/posts/update-account.ts": [
    [
      "resumed channel starts nothing",
      "if (before.paused === 1 && after.paused === 0) await startWaitingPosts(tx, after.id, now);",
      "void startWaitingPosts;",
    ],
  ],
  "src/access/idempotency.ts": [
    ["key not committed with its effect", "    await call.idempotency?.complete(tx, answer);\n", ""],
    ["key kept for a second", "expires_at: now + KEPT_MS,", "expires_at: now + KEPT_MS / 86_400,"],
    ["answer of a key not looked at", "if (known.result !== null) return known.result;", ""],
  ],
  "src/store/queries/access.ts": [
    [
      "key freed with its effect",
      'await deleteRows(tx, "idempotency", { owner_id, key_hash, worker_id: workerId });',
      'void workerId;\n  await deleteRows(tx, "idempotency", { owner_id, key_hash });',
    ],
    [
      "key completed by who lost it",
      "const where = { owner_id, key_hash, worker_id: workerId };",
      "void workerId;\n  const where = { owner_id, key_hash };",
    ],
  ],
  "src/store/queries/drafts.ts": [
    [
      "decision without the revision",
      `    .where("owner_id", "=", before.owner_id)\n    .where("revision", "=", before.revision)`,
      `    .where("owner_id", "=", before.owner_id)`,
    ],
  ],
  "src/posts/drafts/save-draft.ts": [
    [
      "revision that was seen not compared",
      "if (revision !== row.revision) throw",
      "if (revision === -1) throw",
    ],
  ],
  "src/posts/drafts/decide-draft.ts": [
    [
      "approval makes no posts",
      "      await insertDraftPosts(tx, call, decided, posts);\n",
      "      void [tx, insertDraftPosts, decided, posts];\n",
    ],
    [
      "stopped series goes on",
      "cancelled = await cancelWaiting(tx, decided, call.ctx.clock.now());",
      "cancelled = [cancelWaiting, decided].slice(2).map(String);",
    ],
  ],
  "src/posts/drafts/approval.ts": [
    [
      "draft of a restored copy approved at once",
      "if (at === null || !(await ctx.store.write((tx) => endUnsure(tx, id)))) return;",
      "if (at === null || endUnsure !== undefined) return;",
    ],
  ],
  "src/posts/drafts/series.ts": [
    [
      "series with a gap",
      "const missing = aheadOf(series, now, begun).filter(",
      "const missing = aheadOf(series, now, begun).slice(1).filter(",
    ],
  ],
  "src/reporting/webhooks/webhook-deliveries.ts": [
    [
      "webhook told twice",
      `status: "delivered", next_at: null };`,
      `status: "delivered", next_at: delivery.tries === 0 ? now + SECOND : null };`,
    ],
    [
      "event that did not get through given up",
      "const waitMs = RETRY_AFTER_MS[delivery.tries];",
      "const waitMs = RETRY_AFTER_MS[delivery.tries + 100];",
    ],
    [
      "webhook not released",
      "    await ctx.store.write((tx) => releaseWebhook(tx, lease));\n",
      "    void releaseWebhook;\n",
    ],
    [
      "broken-off event counts as sent",
      "  if (signal.aborted) return [];\n",
      "  if (signal.aborted) answer.error = null;\n",
    ],
  ],
  "src/store/queries/webhooks.ts": [
    [
      "webhook sent by two processes",
      `    .where((eb) => eb.or([eb("lease_worker", "is", null), eb("lease_until", "<=", now)]))\n`,
      '    .where("id", "<>", String(now))\n',
    ],
  ],
  "src/platforms/shared/reconcile.ts": [
    ["first listing believed", `if (waitMs > 0) return { outcome: "ask_again", afterMs: waitMs };`, ""],
    [
      "clock ahead of the platform's not reckoned with",
      "(io.aheadMs() > 0 ? await findSince(intentAt - io.aheadMs()) : null)",
      "null",
    ],
  ],
};

export const MUTANTS: readonly Mutant[] = Object.entries(FAULTS).flatMap(([file, faults]) =>
  faults.map(([name, from, to]) => ({ name, file, from, to })),
);

/** The file's text with the fault in it. Throws where it does not apply any more. */
export function applyMutant({ name, file, from, to }: Mutant, text: string): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0 || from === to)
    throw new Error(`“${name}” does not apply to ${file} any more: what it replaces is not there once.`);
  return before + to + after;
}
