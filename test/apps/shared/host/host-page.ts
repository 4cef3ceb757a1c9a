import {
  AppBridge,
  PostMessageTransport,
  type McpUiHostContext,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import type { CallToolResult } from "@modelcontextprotocol/client";

/** What the test's process does for the page; all of it is recorded there. */
interface TestProcess {
  testCallTool(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
  testNote(kind: string, value: unknown): Promise<void>;
}

interface Showing {
  readonly around: string;
  readonly html: string;
  readonly sandboxUrl: string;
  readonly context: McpUiHostContext;
  readonly capabilities: Record<string, object>;
  readonly input: Record<string, unknown>;
  readonly result: CallToolResult;
}

declare global {
  interface Window extends TestProcess {
    show(showing: Showing): Promise<void>;
    bridge: AppBridge;
  }
}

/**
 * A host as the official bridge makes one: sandbox of another origin, the page within, tool input and result.
 */
window.show = async ({ around, html, sandboxUrl, context, capabilities, input, result }) => {
  const frame = document.createElement("iframe");
  document.body.innerHTML = around;
  document.querySelector("[data-view]")?.replaceWith(frame);
  const bridge = new AppBridge(null, { name: "test-host", version: "1.0.0" }, capabilities, {
    hostContext: context,
  });
  window.bridge = bridge;
  bridge.onsandboxready = () => void bridge.sendSandboxResourceReady({ html });
  const room = context.containerDimensions;
  const isFixed = room !== undefined && "height" in room;
  if (isFixed) frame.style.height = `${room.height}px`;
  bridge.onsizechange = ({ height }) => {
    if (!isFixed && height !== undefined) frame.style.height = `${height}px`;
    void window.testNote("height", height);
  };
  bridge.oncalltool = ({ name, arguments: args = {} }) => window.testCallTool(name, args);
  bridge.onopenlink = async ({ url }) => {
    await window.testNote("link", url);
    return {};
  };
  bridge.onupdatemodelcontext = async ({ content = [] }) => {
    await window.testNote("model", content);
    return {};
  };
  bridge.onrequestdisplaymode = async ({ mode }) => {
    await window.testNote("mode", mode);
    return { mode };
  };
  const initialized = new Promise<void>((resolve) => (bridge.oninitialized = () => resolve()));
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  if (frame.contentWindow === null) throw new Error("The frame has no window.");
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = sandboxUrl;
  await loaded;
  await initialized;
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
};
