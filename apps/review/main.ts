import { Bridge } from "../shared/bridge.ts";
import { connect } from "../shared/connect.ts";
import { part } from "../shared/dom.ts";
import { App } from "./app.ts";
import { listenToClicks } from "./clicks.ts";
import { createScreen } from "./screen.ts";

const root = part("app");
const screen = createScreen();
const app = new App(screen);
listenToClicks(app, root);

const info = { name: "posthorn-review", title: "Posthorn review" };
const bridge = new Bridge(window.parent, info, {
  onReady: (abilities, context) => app.begin(bridge, abilities, context),
  onToolInput: (args) => app.takeInput(args),
  onToolResult: (answer) => app.takeResult(answer),
  onToolCancelled: () => app.takeCancellation(),
  onContext: (context) => app.takeContext(context),
});

connect(bridge, root).catch(() =>
  screen.showText("The application around this page refused to show the drafts."),
);
