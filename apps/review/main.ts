import { h, render } from "preact";
import { Bridge } from "../shared/bridge.ts";
import { connect } from "../shared/connect.ts";
import { App } from "./app.ts";
import { ReviewView } from "./view.tsx";

const root = document.querySelector("main") ?? document.body;
const app = new App((app, shown, focus) => {
  render(h(ReviewView, { app, shown }), root);
  if (focus !== null) document.getElementById(focus)?.focus();
});
root.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && app.leave()) event.preventDefault();
});

const info = { name: "posthorn-review", title: "Posthorn review" };
const bridge = new Bridge(window.parent, info, {
  onReady: (abilities, context) => app.begin(bridge, abilities, context),
  onToolInput: (args) => app.takeInput(args),
  onToolResult: (answer) => app.takeResult(answer),
  onToolCancelled: () => app.takeCancellation(),
  onContext: (context) => app.takeContext(context),
});

connect(bridge, root).catch(() =>
  app.showText("The application around this page refused to show the drafts."),
);
