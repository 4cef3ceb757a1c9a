import type { Account } from "../../../../src/domain/accounts/account.ts";
import type { Status } from "../../../../src/domain/health/status.ts";
import type { Post } from "../../../../src/domain/posts/post.ts";
import { newestOf } from "../../../shared/newest.ts";
import { isUnknown } from "./error-words.ts";

/** A channel that cannot be used, or soon not. */
export interface LostChannel {
  readonly account: Pick<Account, "id" | "name" | "provider" | "queuedCount">;
  readonly status: Account["status"];
  readonly reason: string | null;
  /** Posts that failed on it, and can be sent again once it is connected. */
  readonly failed: readonly Post[];
}

/** Posts of one platform that failed for the same reason. */
export interface Failure {
  readonly provider: string;
  readonly error: string | null;
  readonly posts: readonly Post[];
}

/** What needs a person, by what they have to do, most urgent first. */
export interface Troubles {
  /** Nothing goes out; null: a publisher runs, or nothing waits for one. */
  readonly stopped: { readonly waiting: number; readonly overdue: number } | null;
  readonly unknown: readonly Post[];
  readonly lost: readonly LostChannel[];
  readonly failures: readonly Failure[];
  /** Failed longer ago than a week. */
  readonly older: readonly Failure[];
  readonly setup: Status["setupProblems"];
  readonly paused: Status["accountsPaused"];
  readonly expiring: readonly LostChannel[];
  /** Late or under way, and Posthorn goes on by itself: nothing to do, but good to know. */
  readonly trying: readonly Post[];
}

/** The posts of the room. */
export interface TroublePosts {
  readonly failed: readonly Post[];
  /** Those that wait though their time has passed, and those that were begun. */
  readonly late: readonly Post[];
}

/** With what is known of posts by now: one that failed or went on meanwhile is in its place at once. */
export function asKnown({ failed, late }: TroublePosts, known: ReadonlyMap<string, Post>): TroublePosts {
  const newest = [...failed, ...late].map((post) => newestOf(post, known));
  const all = [...new Map(newest.map((post) => [post.id, post])).values()];
  return {
    failed: all.filter(({ status }) => status === "failed"),
    late: all.filter(({ status }) => LATE.includes(status)),
  };
}

const LATE: readonly Post["status"][] = ["scheduled", "uploaded", "publishing"];

const WEEK = 7 * 24 * 60 * 60 * 1_000;

/** `failed`: latest time first. `late`: those that wait though their time has passed, and those that were begun. */
export function groupTroubles(
  status: Status,
  failed: readonly Post[],
  now: number,
  late: readonly Post[] = [],
): Troubles {
  const toLost = (one: Status["accountsToReconnect"][number]): LostChannel => ({
    account: one,
    status: one.status,
    reason: one.reason,
    failed: failed.filter(({ accountId, error }) => accountId === one.id && !isUnknown(error)),
  });
  const lost = status.accountsToReconnect.filter((one) => one.status !== "expiring").map(toLost);
  const held = new Set(lost.map(({ account }) => account.id));
  const others = failed.filter(({ accountId, error }) => !isUnknown(error) && !held.has(accountId));
  const isRecent = ({ scheduledAt, updatedAt }: Post): boolean =>
    Math.max(Date.parse(scheduledAt), Date.parse(updatedAt)) >= now - WEEK;
  // What waits for a person is told with its channel.
  const waiting = new Set([...held, ...status.accountsPaused.map(({ id }) => id)]);
  const { scheduled, overdue } = status.counts;
  const isStopped = !status.publisher.running && (scheduled > 0 || overdue > 0);
  return {
    stopped: isStopped ? { waiting: scheduled, overdue } : null,
    unknown: failed.filter(({ error }) => isUnknown(error)),
    lost,
    failures: byReason(others.filter(isRecent)),
    older: byReason(others.filter((post) => !isRecent(post))),
    setup: status.setupProblems,
    paused: status.accountsPaused.filter(({ queuedCount }) => queuedCount > 0),
    expiring: status.accountsToReconnect.filter((one) => one.status === "expiring").map(toLost),
    trying: late.filter(
      ({ accountId, error, status: at }) => error !== null && (at !== "scheduled" || !waiting.has(accountId)),
    ),
  };
}

function byReason(posts: readonly Post[]): readonly Failure[] {
  const groups = new Map<string, Post[]>();
  for (const post of posts) {
    const key = JSON.stringify([post.provider, post.error]);
    groups.set(key, [...(groups.get(key) ?? []), post]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ provider: first.provider, error: first.error, posts: group }];
  });
}

/** Whether nothing needs a person. What is tried again does not. */
export function isCalm(troubles: Troubles): boolean {
  const { stopped, unknown, lost, failures, older, setup, paused, expiring } = troubles;
  return stopped === null && [unknown, lost, failures, older, setup, paused, expiring].every(isNone);
}

function isNone(list: readonly unknown[]): boolean {
  return list.length === 0;
}
