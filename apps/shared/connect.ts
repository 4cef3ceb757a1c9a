import type { Bridge } from "./bridge.ts";

/** Connects the page and reports its height to the host. Rejects if the host refuses. */
export async function connect(bridge: Bridge, root: HTMLElement): Promise<void> {
  await bridge.connect(window);
  let told = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height);
    if (height !== told) bridge.notify("ui/notifications/size-changed", { height });
    told = height;
  }).observe(root);
}
