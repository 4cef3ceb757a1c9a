import { createServer } from "node:http";
import Database from "better-sqlite3";
import express from "express";

/**
 * What the API is measured against: the same rows read through bare node:http, and one row written through
 * bare Express, as durably. Prints its address.
 *
 *   node bare-http.js pages|posts DATABASE
 */
const [what = "pages", file = ":memory:"] = process.argv.slice(2);
const database = new Database(file);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");

const server = createServer(what === "pages" ? servePages() : servePosts());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object")
    process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});

function servePages(): (request: unknown, response: import("node:http").ServerResponse) => void {
  const page = database.prepare(
    `SELECT id, account_id, provider, media_url, scheduled_at, status, caption, metadata, lead_minutes, platform_post_id, platform_url,
       error, attempts, published_at, created_at, updated_at
     FROM posts WHERE owner_id = 'default' ORDER BY scheduled_at DESC, id DESC LIMIT 100`,
  );
  return (_request, response) => {
    const posts = (page.all() as Record<string, unknown>[]).map((row) => ({
      ...row,
      metadata: row["metadata"] === null ? null : (JSON.parse(row["metadata"] as string) as unknown),
      scheduledAt: new Date(row["scheduled_at"] as number).toISOString(),
    }));
    const body = JSON.stringify({ posts, nextCursor: null });
    response
      .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      .end(body);
  };
}

function servePosts(): express.Express {
  database.exec(
    "CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, account_id TEXT, caption TEXT, scheduled_at TEXT)",
  );
  const insert = database.prepare("INSERT INTO bare (account_id, caption, scheduled_at) VALUES (?, ?, ?)");
  const app = express();
  app.use(express.json());
  app.post("/", (request, response) => {
    const { accountId, caption, scheduledAt } = request.body as Record<string, string>;
    const { lastInsertRowid } = insert.run(accountId, caption, scheduledAt);
    response.status(201).json({ post: { id: Number(lastInsertRowid), accountId, caption, scheduledAt } });
  });
  return app;
}
