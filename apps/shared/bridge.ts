import { noteForPeople } from "../../src/domain/drafts/notes-for-models.ts";
import { inWords, VIEW_WORDS } from "../words.ts";
import { isJson, type Json, jsonOf, textOf } from "./json.ts";
import { readSentences, wordAnswer } from "./sentences.ts";

/** The revision of MCP Apps that is spoken (SEP-1865). */
const PROTOCOL_VERSION = "2026-01-26";

const METHOD_NOT_FOUND = -32_601;

/** What the host can do for the page; the page offers nothing else. */
export interface HostAbilities {
  readonly callsTools: boolean;
  readonly opensLinks: boolean;
  readonly takesContext: boolean;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly structured: Json | null;
  /** What a model would read; the sentence of an error. */
  readonly text: string;
  /** A note if the answer is not complete. */
  readonly note: string | null;
}

/** What the app is called to hosts, and to people. */
interface AppInfo {
  readonly name: string;
  readonly title: string;
}

interface BridgeEvents {
  onReady(abilities: HostAbilities, context: Json): void;
  onToolInput(args: Json): void;
  onToolResult(answer: ToolAnswer): void;
  onToolCancelled(reason: string): void;
  onContext(context: Json): void;
}

export const NO_ABILITIES: HostAbilities = { callsTools: false, opensLinks: false, takesContext: false };

/**
 * The page's side of MCP Apps: JSON-RPC 2.0 by postMessage with the window that embeds it, and with no other.
 */
export class Bridge {
  readonly #host: Window;
  readonly #app: AppInfo;
  readonly #events: BridgeEvents;
  readonly #waiting = new Map<number, { resolve(result: Json): void; reject(error: Error): void }>();
  #lastId = 0;

  constructor(host: Window, app: AppInfo, events: BridgeEvents) {
    this.#host = host;
    this.#app = app;
    this.#events = events;
  }

  async connect(page: Window): Promise<void> {
    page.addEventListener("message", (event: MessageEvent<unknown>) => {
      if (event.source === this.#host && isJson(event.data) && event.data["jsonrpc"] === "2.0")
        this.#receive(event.data);
    });
    const result = await this.request("ui/initialize", {
      protocolVersion: PROTOCOL_VERSION,
      appInfo: { ...this.#app, version: "1.0.0" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    const abilities = jsonOf(result["hostCapabilities"]);
    this.#events.onReady(
      {
        callsTools: isJson(abilities["serverTools"]),
        opensLinks: isJson(abilities["openLinks"]),
        takesContext: isJson(abilities["updateModelContext"]),
      },
      jsonOf(result["hostContext"]),
    );
    this.notify("ui/notifications/initialized", {});
  }

  /** Rejects with the host's words when it refuses. */
  request(method: string, params: Json): Promise<Json> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: Json): void {
    this.#send({ method, params });
  }

  /** Never rejects: a host that refuses the call answers like a tool that failed. */
  async callTool(name: string, args: Json): Promise<ToolAnswer> {
    try {
      return readAnswer(await this.request("tools/call", { name, arguments: args }));
    } catch (error) {
      const reason = error instanceof Error && error.message !== "" ? error.message : "no reason given";
      return {
        isError: true,
        structured: null,
        note: null,
        text: `The application around this page refused the call: ${reason}`,
      };
    }
  }

  openLink(url: string): Promise<Json> {
    return this.request("ui/open-link", { url });
  }

  async requestMode(mode: string): Promise<Json> {
    const answer = await this.request("ui/request-display-mode", { mode });
    return answer["mode"] === undefined ? {} : { displayMode: answer["mode"] };
  }

  updateModel(text: string): Promise<Json> {
    return this.request("ui/update-model-context", { content: [{ type: "text", text }] });
  }

  #send(message: Json): void {
    // The page cannot know its host's origin; what it sends is for the page that embeds it.
    this.#host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  #receive(message: Json): void {
    const { id, method } = message;
    if (typeof method !== "string") return this.#settle(message);
    if (typeof id !== "string" && typeof id !== "number")
      return this.#notice(method, jsonOf(message["params"]));
    const isKnown = method === "ping" || method === "ui/resource-teardown";
    this.#send({
      id,
      ...(isKnown
        ? { result: {} }
        : { error: { code: METHOD_NOT_FOUND, message: `Unknown method: ${method}` } }),
    });
  }

  #settle(message: Json): void {
    const id = message["id"];
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (typeof id !== "number" || waiting === undefined) return;
    this.#waiting.delete(id);
    const error = message["error"];
    if (error === undefined) waiting.resolve(jsonOf(message["result"]));
    else waiting.reject(new Error(textOf(jsonOf(error)["message"])));
  }

  #notice(method: string, params: Json): void {
    if (method === "ui/notifications/tool-input") this.#events.onToolInput(jsonOf(params["arguments"]));
    if (method === "ui/notifications/tool-result") this.#events.onToolResult(readAnswer(params));
    if (method === "ui/notifications/tool-cancelled") this.#events.onToolCancelled(textOf(params["reason"]));
    if (method === "ui/notifications/host-context-changed") this.#events.onContext(params);
  }
}

/** The field in which the server sends the sentences of an answer as data. */
const SENTENCES = "posthorn/sentences";

function readAnswer(result: Json): ToolAnswer {
  const [block] = Array.isArray(result["content"]) ? result["content"] : [];
  const text = textOf(jsonOf(block)["text"]);
  const given = result["structuredContent"];
  const structured = isJson(given) ? given : parse(text);
  const sentences = jsonOf(jsonOf(result["_meta"])[SENTENCES]);
  if (structured !== null) wordAnswer(structured, sentences, VIEW_WORDS);
  return {
    isError: result["isError"] === true,
    structured,
    text: inWords(readSentences(sentences[""]), VIEW_WORDS) || text,
    note: noteForPeople(textOf(structured?.["note"])),
  };
}

/** Some hosts pass only the text on, which is the same JSON. */
function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : null;
  } catch {
    return null;
  }
}
