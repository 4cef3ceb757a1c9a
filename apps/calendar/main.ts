import { Bridge } from "../shared/bridge.ts";
import { connect } from "../shared/connect.ts";
import { part } from "../shared/dom.ts";
import { mountCalendar } from "./mount.ts";

const root = part("app");
const { app, showText } = mountCalendar(root, {}, document.documentElement);

const info = { name: "posthorn-calendar", title: "Posthorn calendar" };
const bridge = new Bridge(window.parent, info, {
  onReady: (abilities, context) => app.begin(bridge, abilities, context),
  onToolInput: (args) => app.takeInput(args),
  onToolResult: (answer) => app.takeResult(answer),
  onToolCancelled: () => app.takeCancellation(),
  onContext: (context) => app.takeContext(context),
});

connect(bridge, root).catch(() => showText("The application around this page refused to show the calendar."));
