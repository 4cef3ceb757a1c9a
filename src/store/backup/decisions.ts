import type { DecidedKind } from "../../domain/health/backups.ts";
import { sql, type RawBuilder } from "kysely";
import { TABLES, type Tables } from "../schema/tables.ts";
import { change } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";
import { UNSURE } from "../queries/drafts.ts";

/*
 * A copy that is put back is too old for rights and decisions, too: rights only shrink, decisions only grow. The
 * database that it replaces tells what was decided since, where it goes on from the copy. On SQLite it is attached
 * as `replaced` then. Otherwise nothing tells, on both engines.
 */

/** Changes one table. Returns how many of its rows. */
type Rule = (tx: Tx, now: number) => Promise<number>;

interface Decision {
  /** With the replaced database. */
  readonly known: Rule;
  /** Without it. */
  readonly unknown: Rule;
  /** Under which names their rows are told. */
  readonly told?: { readonly known?: DecidedKind; readonly unknown?: DecidedKind };
}

const leave: Rule = async () => 0;
const AS_COPIED: Decision = { known: leave, unknown: leave };

function run(statement: (now: number) => RawBuilder<unknown>): Rule {
  return (tx, now) => change(tx, statement(now));
}

function all(...rules: readonly Rule[]): Rule {
  return async (tx, now) => {
    let rows = 0;
    for (const rule of rules) rows += await rule(tx, now);
    return rows;
  };
}

function deleted(table: keyof Tables, where = sql`TRUE`): Rule {
  return run(() => sql`DELETE FROM ${sql.table(table)} WHERE ${where}`);
}

/** In both cases. */
function without(table: keyof Tables, where?: RawBuilder<unknown>): Decision {
  return { known: deleted(table, where), unknown: deleted(table, where) };
}

/** Rows that the replaced database has beside the copy's. */
function added(table: keyof Tables, where: RawBuilder<unknown>): Rule {
  const columns = columnsOf(table);
  return run(
    () =>
      sql`INSERT OR IGNORE INTO ${sql.table(table)} (${columns})
        SELECT ${columns} FROM ${sql.table(`replaced.${table}`)} WHERE ${where}`,
  );
}

/** The replaced database's rows instead of the copy's. */
function exchanged(table: keyof Tables, where = sql`TRUE`): Rule {
  return all(deleted(table, where), added(table, where));
}

/** These rows as a whole, as the replaced database has them. */
function rewritten(table: keyof Tables, where: RawBuilder<unknown>): Rule {
  const columns = columnsOf(table);
  return run(
    () =>
      sql`UPDATE ${sql.table(table)} AS here SET (${columns}) =
          (SELECT ${columns} FROM ${sql.table(`replaced.${table}`)} AS there WHERE there.id = here.id)
        WHERE ${where}`,
  );
}

function columnsOf(table: keyof Tables): RawBuilder<unknown> {
  return sql.join(Object.keys(TABLES[table].columns).map((name) => sql.ref(name)));
}

/** Of a table of what was entered or registered: what is not there any more. */
function withoutEnded(table: keyof Tables, key: string): Rule {
  const [name, column] = [sql.table(`replaced.${table}`), sql.ref(key)];
  return deleted(table, sql`${column} NOT IN (SELECT ${column} FROM ${name})`);
}

export const CARRIED = sql`(SELECT id FROM carried_posts)`;

/** What belongs to the posts that `takePosts` took. */
function ofPosts(table: keyof Tables, column = "post_id"): Decision {
  return { ...AS_COPIED, known: exchanged(table, sql`${sql.ref(column)} IN ${CARRIED}`) };
}

/**
 * Posts that the publisher worked on or a person cancelled since, and those of drafts that were approved since: as a
 * whole, so that what is known of their outcome is not asked again. Others are as the copy has them.
 */
const takePosts: Rule = async (tx, now) => {
  await change(tx, sql`CREATE TEMP TABLE carried_posts (id TEXT PRIMARY KEY)`);
  await change(
    tx,
    sql`INSERT INTO carried_posts SELECT there.id FROM replaced.posts there JOIN main.posts here ON here.id = there.id
      WHERE there.status <> here.status OR there.in_doubt <> here.in_doubt OR there.attempts <> here.attempts
        OR here.lease_worker IS NOT NULL`,
  );
  await change(
    tx,
    sql`INSERT INTO carried_posts SELECT posts.id ${MADE_SINCE} AND posts.account_id IN (SELECT id FROM main.accounts)`,
  );
  // A post that stays may hold the slot that another one had since.
  await change(tx, sql`UPDATE main.posts SET slot_at = NULL WHERE id IN ${CARRIED}`);
  await change(
    tx,
    sql`UPDATE replaced.posts AS there SET slot_at = NULL WHERE id IN ${CARRIED} AND EXISTS (
      SELECT 1 FROM main.posts here WHERE here.account_id = there.account_id AND here.slot_at = there.slot_at)`,
  );
  const carried = sql`id IN ${CARRIED}`;
  return all(rewritten("posts", carried), added("posts", carried))(tx, now);
};

/** Posts of drafts that the copy has, made since. */
export const MADE_SINCE = sql`FROM replaced.posts JOIN replaced.post_plans ON post_plans.post_id = posts.id
  WHERE post_plans.draft_id IN (SELECT id FROM main.drafts) AND posts.id NOT IN (SELECT id FROM main.posts)`;

/** One for every table, each after those that it refers to. */
export const DECISIONS: Readonly<Record<keyof Tables, Decision>> = {
  api_keys: {
    known: run(
      (now) => sql`UPDATE api_keys AS here
        SET revoked_at = coalesce((SELECT revoked_at FROM replaced.api_keys there WHERE there.id = here.id), ${now})
        WHERE revoked_at IS NULL AND id NOT IN (SELECT id FROM replaced.api_keys WHERE revoked_at IS NULL)`,
    ),
    unknown: run(
      (now) => sql`UPDATE api_keys SET revoked_at = ${now}
        WHERE revoked_at IS NULL AND id IN (SELECT id FROM oauth_grants)`,
    ),
    told: { known: "keys", unknown: "programs" },
  },
  // Who was signed in then need not be any more, and one that was made up may sign in whom it likes.
  page_sessions: without("page_sessions"),
  page_sign_ins: without("page_sign_ins"),
  oauth_clients: { ...AS_COPIED, known: withoutEnded("oauth_clients", "id") },
  oauth_requests: without("oauth_requests"),
  oauth_codes: without("oauth_codes"),
  oauth_grants: AS_COPIED,
  // A refresh token that was spent since would end the access of the program that has the next one.
  oauth_tokens: {
    known: all(
      deleted("oauth_tokens"),
      added("oauth_tokens", sql`grant_id IN (SELECT id FROM main.oauth_grants)`),
    ),
    unknown: deleted("oauth_tokens"),
  },
  accounts: {
    known: all(
      run(
        () => sql`UPDATE accounts AS here SET (status, status_reason, secrets_enc, secrets_version, grant_id) =
            (SELECT status, status_reason, NULL, secrets_version, NULL FROM replaced.accounts there WHERE there.id = here.id),
            token_expires_at = NULL, access_ends_at = NULL, scopes = '[]'
          WHERE status <> 'disconnected' AND id IN (SELECT id FROM replaced.accounts WHERE status = 'disconnected')`,
      ),
      run(
        () => sql`UPDATE accounts SET paused = 1
          WHERE paused = 0 AND id IN (SELECT id FROM replaced.accounts WHERE paused = 1)`,
      ),
    ),
    unknown: leave,
    told: { known: "channels" },
  },
  // Their tokens were given back.
  grants: {
    ...AS_COPIED,
    known: deleted(
      "grants",
      sql`id NOT IN (SELECT id FROM replaced.grants)
        AND id NOT IN (SELECT grant_id FROM main.accounts WHERE grant_id IS NOT NULL)`,
    ),
  },
  apps: AS_COPIED,
  platform_apps: {
    ...AS_COPIED,
    known: withoutEnded("platform_apps", "provider"),
    told: { known: "apps" },
  },
  connections: without("connections", sql`status IN ('pending', 'choose')`),
  webhooks: {
    ...AS_COPIED,
    known: async (tx, now) => {
      const ended = await withoutEnded("webhooks", "id")(tx, now);
      await change(
        tx,
        sql`UPDATE webhooks AS here SET (status, status_reason) =
          (SELECT status, status_reason FROM replaced.webhooks there WHERE there.id = here.id)`,
      );
      return ended;
    },
    told: { known: "webhooks" },
  },
  webhook_deliveries: AS_COPIED,
  calendar_links: { ...AS_COPIED, known: exchanged("calendar_links") },
  // A call that was under way is taken over as that of a dead process.
  idempotency: { ...AS_COPIED, known: exchanged("idempotency") },
  // Posts and drafts of since show them, and what they name is in the store.
  files: { ...AS_COPIED, known: added("files", sql`status = 'ready'`) },
  drafts: {
    known: rewritten(
      "drafts",
      sql`id IN (SELECT there.id FROM replaced.drafts there JOIN main.drafts d ON d.id = there.id
        WHERE there.decision IS NOT d.decision OR there.state = 'ended' AND d.state <> 'ended')`,
    ),
    unknown: run(
      (now) => sql`INSERT INTO meta (key, value)
        SELECT ${UNSURE} || id, ${String(now)} FROM drafts WHERE state IN ('open', 'waiting')
        ON CONFLICT (key) DO NOTHING`,
    ),
    told: { known: "drafts", unknown: "drafts" },
  },
  posts: { ...AS_COPIED, known: takePosts, told: { known: "posts" } },
  post_plans: ofPosts("post_plans"),
  post_labels: ofPosts("post_labels"),
  effects: ofPosts("effects"),
  attempts: ofPosts("attempts"),
  results: ofPosts("results"),
  feed_items: ofPosts("feed_items", "id"),
  file_uses: {
    ...AS_COPIED,
    known: all(
      deleted("file_uses"),
      run(
        () => sql`INSERT INTO file_uses (account_id, file_id, posts)
          SELECT posts.account_id, value, count(*) FROM main.posts, json_each(posts.file_ids) GROUP BY 1, 2`,
      ),
    ),
  },
  attempt_totals: AS_COPIED,
  films: AS_COPIED,
  imported_rows: AS_COPIED,
  workers: AS_COPIED,
  meta: AS_COPIED,
};
