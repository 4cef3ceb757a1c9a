import { App } from "./app.ts";
import { Bridge } from "./bridge.ts";
import { listenToClicks } from "./clicks.ts";
import { part } from "./dom.ts";
import { listenToDrags } from "./drag.ts";
import { listenToKeys } from "./keyboard.ts";
import { createScreen } from "./screen.ts";

const root = part("app");
const screen = createScreen();
const app = new App(screen);
listenToDrags(app, root);
listenToClicks(app, root);
listenToKeys(app, root);

const bridge = new Bridge(window.parent, {
  onReady: (abilities, context) => app.begin(bridge, abilities, context),
  onToolInput: (args) => app.takeInput(args),
  onToolResult: (answer) => app.takeResult(answer),
  onToolCancelled: () => app.takeCancellation(),
  onContext: (context) => app.takeContext(context),
});

async function start(): Promise<void> {
  await bridge.connect(window);
  let told = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height);
    if (height !== told) bridge.notify("ui/notifications/size-changed", { height });
    told = height;
  }).observe(root);
}

start().catch(() => screen.showText("The application around this page refused to show the calendar."));
