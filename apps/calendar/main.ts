import { h, render } from "preact";
import { App } from "../features/calendar/app.ts";
import { Calendar } from "../features/calendar/calendar.tsx";
import { Bridge } from "../shared/bridge.ts";
import { connect } from "../shared/connect.ts";
import { Host } from "../shared/host.ts";

const root = document.querySelector("main") ?? document.body;
const app = new App(new Host());
render(h(Calendar, { app }), root);

const info = { name: "posthorn-calendar", title: "Posthorn calendar" };
const bridge = new Bridge(window.parent, info, {
  onReady: (abilities, context) => app.begin(bridge, abilities, context),
  onToolInput: (args) => app.takeInput(args),
  onToolResult: (answer) => app.takeResult(answer),
  onToolCancelled: () => app.takeCancellation(),
  onContext: (context) => app.takeContext(context),
});

connect(bridge, root).catch(() =>
  app.showText("The application around this page refused to show the calendar."),
);
