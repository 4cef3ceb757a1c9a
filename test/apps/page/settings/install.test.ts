import { describe, expect, it } from "vitest";
import { ASSISTANTS, installFor } from "../../../../apps/page/rooms/settings/install.ts";

const SERVER = { publicUrl: "https://posts.example.com", key: "phk_1_2" };
const URL_OF_MCP = "https://posts.example.com/mcp";

describe("what an assistant is told", () => {
  it("is a link for Cursor, with its entry in base64", () => {
    const { link } = installFor("cursor", SERVER);
    const url = new URL(link ?? "");
    expect(`${url.protocol}//${url.host}${url.pathname}`).toBe(
      "cursor://anysphere.cursor-deeplink/mcp/install",
    );
    expect(url.searchParams.get("name")).toBe("posthorn");
    const config = Buffer.from(url.searchParams.get("config") ?? "", "base64").toString("utf8");
    expect(JSON.parse(config)).toEqual({ url: URL_OF_MCP, headers: { Authorization: "Bearer phk_1_2" } });
  });

  it("is a link for VS Code, with its entry in the query", () => {
    const { link } = installFor("vscode", SERVER);
    const [start, query] = (link ?? "").split("?");
    expect(start).toBe("vscode:mcp/install");
    expect(JSON.parse(decodeURIComponent(query ?? ""))).toEqual({
      name: "posthorn",
      type: "http",
      url: URL_OF_MCP,
      headers: { Authorization: "Bearer phk_1_2" },
    });
  });

  it("is a command where the client has one", () => {
    expect(installFor("claude-code", SERVER).text).toBe(
      `claude mcp add --scope user --transport http posthorn ${URL_OF_MCP} --header "Authorization: Bearer phk_1_2"`,
    );
    expect(installFor("gemini-cli", SERVER).text).toBe(
      `gemini mcp add --scope user --transport http --header "Authorization: Bearer phk_1_2" posthorn ${URL_OF_MCP}`,
    );
  });

  it("is a table for Codex", () => {
    expect(installFor("codex", SERVER).text).toBe(
      `[mcp_servers.posthorn]\nurl = "${URL_OF_MCP}"\nhttp_headers = { Authorization = "Bearer phk_1_2" }`,
    );
  });

  it("is a link that opens claude.ai with the connector filled in, and holds no key", () => {
    const { link, text } = installFor("claude", SERVER);
    const url = new URL(link ?? "");
    expect(`${url.origin}${url.pathname}`).toBe("https://claude.ai/customize/connectors");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      modal: "add-custom-connector",
      connectorName: "Posthorn",
      connectorUrl: URL_OF_MCP,
    });
    expect(text).toBe(URL_OF_MCP);
    expect(ASSISTANTS.filter((one) => "needsOAuth" in one).map(({ name }) => name)).toEqual([
      "claude",
      "chatgpt",
    ]);
  });

  it.each(ASSISTANTS)("has the key for $title only where it needs one", ({ name, needsKey }) => {
    const { link, text } = installFor(name, SERVER);
    expect(text.includes("phk_1_2")).toBe(needsKey);
    expect(link?.includes(" ") ?? false).toBe(false);
  });
});
