import { h, render } from "preact";
import { Bridge } from "../shared/bridge.ts";
import { connect } from "../shared/connect.ts";
import * as review from "./review.ts";
import { ReviewView } from "./view.tsx";

const root = document.querySelector("main") ?? document.body;
render(h(ReviewView, null), root);
root.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && review.leave()) event.preventDefault();
});

const info = { name: "posthorn-review", title: "Posthorn review" };
const bridge = new Bridge(window.parent, info, {
  onReady(abilities, context) {
    review.host.begin(bridge, abilities);
    review.takeContext(context);
  },
  onToolInput: review.takeInput,
  onToolResult: review.takeResult,
  onToolCancelled: review.takeCancellation,
  onContext: review.takeContext,
});

connect(bridge, root).catch(() =>
  review.showText("The application around this page refused to show the drafts."),
);
