import Database from "better-sqlite3";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/**
 * What Posthorn over stdio is measured against: the same SDK and driver, seven tools, an open database, and
 * nothing else.
 */
const [file = ":memory:"] = process.argv.slice(2);
const database = new Database(file);
database.pragma("journal_mode = WAL");
database.exec(
  "CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, provider TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL)",
);
database.exec("INSERT OR IGNORE INTO accounts VALUES ('acc_1', 'feed', 'My feed', 'connected')");
const select = database.prepare("SELECT id, provider, name, status FROM accounts ORDER BY id");

const TOOLS = [
  "list_accounts",
  "list_channels",
  "list_drafts",
  "list_files",
  "list_posts",
  "list_queues",
  "list_teams",
];
const Account = z.object({ id: z.string(), provider: z.string(), name: z.string(), status: z.string() });
const SCHEMAS = { inputSchema: z.object({}), outputSchema: z.object({ accounts: z.array(Account) }) };

function createBareServer(): McpServer {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  for (const name of TOOLS) {
    server.registerTool(name, { description: "List the rows of the table.", ...SCHEMAS }, () => {
      const structuredContent = { accounts: select.all() };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    });
  }
  return server;
}

serveStdio(createBareServer);
