import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { getToolUiResourceUri, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/app-bridge";
import { build } from "esbuild";
import type { Frame, FrameLocator, Page } from "playwright-core";
import { expect } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import { createMcpEndpoints } from "../../../src/mcp/transports/endpoints.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { OutboundFailure } from "../../../src/ports/outbound.ts";
import { newContext } from "../../support/browser.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { startTestServer } from "../../support/http.ts";
import { createMemoryMedia } from "../../support/memory-media.ts";
import { listen, type Listening } from "../../support/listen.ts";

/** Media elsewhere, which do not answer. */
const UNREACHABLE = {
  assertAllowed: (_field: string, url: string) => new URL(url),
  request: () => Promise.reject(new OutboundFailure("No answer.", false)),
};

/** The service with every tool on a real server, and an MCP client of it, as a host has one. */
export interface HostSide extends AsyncDisposable {
  readonly ctx: TestContext;
  readonly client: Client;
  /** Questions that the host put to the person. */
  readonly asked: readonly string[];
}

/** `person`: what the one in front of the host answers to questions. Left out: the host cannot ask any. */
export async function startHostSide(timezone: string, person?: "accept" | "decline"): Promise<HostSide> {
  const { tools, platforms } = await loadCatalog();
  const base = await createTestContext({
    platformList: platforms,
    media: createMemoryMedia(new Map()),
    outbound: UNREACHABLE as never,
    // What is taken down from it.
    feed: { remove: async () => {} } as never,
  });
  const ctx = { ...base, settings: { ...base.settings, timezone } };
  const endpoints = createMcpEndpoints({ toolbox: createToolbox(ctx, tools), ctx, version: "1.2.3" });
  const http = await startTestServer(ctx, tools, { mcp: endpoints, routes: [] });
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } };
  const capabilities = { extensions, ...(person !== undefined && { elicitation: {} }) };
  const client = new Client({ name: "test-host", version: "1.0.0" }, { capabilities });
  const asked: string[] = [];
  if (person !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return { action: person, content: {} };
    });
  const key = await http.keyFor("default");
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${http.port}/mcp`), { requestInit }),
  );
  return {
    ctx,
    client,
    asked,
    async [Symbol.asyncDispose]() {
      await client.close();
      await endpoints.close();
      await http[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
}

export interface ShowOptions {
  /** Whose view is shown. Default: show_calendar. */
  readonly tool?: string;
  readonly context?: Record<string, unknown>;
  readonly capabilities?: Record<string, object>;
  readonly args?: Record<string, unknown>;
  /** In the place of what the tool answers. */
  readonly result?: Record<string, unknown>;
  readonly width?: number;
  /** In the place of the page itself. */
  readonly html?: string;
  /** What the host's page shows beside it, with a place `data-view` for it. */
  readonly around?: string;
}

interface ToolCallSeen {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** The page as a person sees it, and what came out of it. */
export interface ShownApp extends AsyncDisposable {
  readonly page: Page;
  readonly view: FrameLocator;
  readonly calls: ToolCallSeen[];
  readonly notes: { readonly kind: string; readonly value: any }[];
  /** Violations of the content security policy, and errors of scripts. */
  readonly faults: string[];
  /** Requests that did not go to the host or its sandbox. */
  readonly strays: string[];
  /** Holds back the answers of tools until it is called. */
  hold(): () => void;
  frame(): Frame;
}

const CAPABILITIES = { serverTools: {}, openLinks: {}, updateModelContext: { text: {} } };

/**
 * Shows a tool's view in a host: host page, sandbox of another origin with the policy, the page in a sandboxed
 * frame.
 */
export async function showApp({ ctx, client }: HostSide, options: ShowOptions = {}): Promise<ShownApp> {
  const tool = options.tool ?? "show_calendar";
  const contents = await readPage(client, tool);
  const servers = await Promise.all([serve(await hostPage(), null), serve(SANDBOX, policyOf(contents))]);
  const [host, sandbox] = servers;
  const browserContext = await newContext({
    viewport: { width: options.width ?? 760, height: 800 },
    locale: "en-GB",
  });
  browserContext.setDefaultTimeout(10_000);
  const page = await browserContext.newPage();
  const seen = await watch(page, [host.origin, sandbox.origin]);
  const calls: ToolCallSeen[] = [];
  let gate = Promise.resolve();
  await page.exposeFunction("testCallTool", async (name: string, args: Record<string, unknown>) => {
    calls.push({ name, args });
    await gate;
    return client.callTool({ name, arguments: args });
  });
  await page.goto(host.origin);
  const args = options.args ?? {};
  const showing = {
    around: options.around ?? "<div data-view></div>",
    html: withClock(options.html ?? contents.text, ctx.clock.now()),
    sandboxUrl: sandbox.origin,
    context: { theme: "light", displayMode: "inline", locale: "en-GB", ...options.context },
    capabilities: options.capabilities ?? CAPABILITIES,
    input: args,
    result: options.result ?? (await client.callTool({ name: tool, arguments: args })),
  };
  await page.evaluate(`window.show(${JSON.stringify(showing)})`);
  return {
    page,
    view: page.frameLocator("iframe").frameLocator("iframe"),
    calls,
    ...seen,
    hold() {
      let open = (): void => {};
      gate = new Promise((resolve) => (open = resolve));
      return open;
    },
    frame: () => page.frames().find((frame) => (frame.parentFrame()?.parentFrame() ?? null) !== null)!,
    async [Symbol.asyncDispose]() {
      await browserContext.close();
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/**
 * The page with its clock standing still, before any script of its own. Playwright's own clock is put into a
 * frame once it is noticed, and the sandboxed frame is a process of its own: its scripts have often run by
 * then.
 */
function withClock(html: string, now: number): string {
  const FixedDate = `class extends Date { constructor(...args) { super(...(args.length === 0 ? [${now}] : args)); } static now() { return ${now}; } }`;
  expect(html).toContain("<head>");
  return html.replace("<head>", () => `<head><script>globalThis.Date = ${FixedDate};</script>`);
}

interface PageContents {
  readonly text: string;
  readonly _meta?: { readonly ui?: { readonly csp?: Readonly<Record<string, readonly string[]>> } };
}

/** The page as a host finds it: by what the tool's listing says, read as a resource. */
async function readPage(client: Client, name: string): Promise<PageContents> {
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name)!);
  const { contents } = await client.readResource({ uri: uri! });
  expect(contents).toEqual([
    expect.objectContaining({ uri, mimeType: RESOURCE_MIME_TYPE, text: expect.any(String) }),
  ]);
  return contents[0] as PageContents;
}

async function watch(
  page: Page,
  own: readonly string[],
): Promise<Pick<ShownApp, "notes" | "faults" | "strays">> {
  const notes: { kind: string; value: any }[] = [];
  const faults: string[] = [];
  const strays: string[] = [];
  await page.exposeFunction("testNote", (kind: string, value: unknown) => void notes.push({ kind, value }));
  await page.exposeFunction("testFault", (fault: string) => void faults.push(fault));
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => testFault(event.violatedDirective + " " + event.blockedURI))`,
  );
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => {
    const url = request.url();
    if (!own.some((origin) => url.startsWith(origin)) && !url.startsWith("about:")) strays.push(url);
  });
  return { notes, faults, strays };
}

/** The policy that the specification gives to a page with these domains. */
function policyOf({ _meta }: PageContents): string {
  const { connectDomains, resourceDomains, frameDomains, baseUriDomains } = _meta?.ui?.csp ?? {};
  const list = (domains: readonly string[] = [], none = "'none'"): string =>
    domains.length === 0 ? none : domains.join(" ");
  const resources = (resourceDomains ?? []).join(" ");
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${resources}`,
    `style-src 'self' 'unsafe-inline' ${resources}`,
    `img-src 'self' data: ${resources}`,
    `font-src 'self' ${resources}`,
    `media-src 'self' data: ${resources}`,
    `connect-src ${list(connectDomains)}`,
    `frame-src ${list(frameDomains)}`,
    "object-src 'none'",
    `base-uri ${list(baseUriDomains, "'self'")}`,
  ].join("; ");
}

const SANDBOX = readFileSync(new URL("host/sandbox.html", import.meta.url), "utf8");

let bundled: Promise<string> | null = null;

function hostPage(): Promise<string> {
  bundled ??= bundleHost();
  return bundled;
}

async function bundleHost(): Promise<string> {
  const entry = fileURLToPath(new URL("host/host-page.ts", import.meta.url));
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
  });
  const style = "body{margin:0}iframe{display:block;width:100%;border:0;height:0}";
  return `<!doctype html><meta charset="utf-8"><style>${style}</style><body></body><script>${result.outputFiles[0]!.text}</script>`;
}

function serve(html: string, policy: string | null): Promise<Listening> {
  const server = createServer((request, response) => {
    if (request.url !== "/") return void response.writeHead(204).end();
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      ...(policy === null ? {} : { "content-security-policy": policy }),
    });
    response.end(html);
  });
  return listen(server);
}
