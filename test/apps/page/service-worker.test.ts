import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";

const PUBLIC = new URL("../../../apps/page/public/", import.meta.url);
const read = (name: string): Buffer => readFileSync(new URL(name, PUBLIC));

type Listener = (event: Record<string, any>) => void;

/** The worker, with a browser of which only what it uses is there. */
function startWorker(windows: { url: string; focus(): void }[] = []) {
  const listeners = new Map<string, Listener>();
  const shown: { title: string; options: Record<string, unknown> }[] = [];
  const opened: string[] = [];
  const self = {
    location: { origin: "https://posts.example" },
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener),
    registration: {
      showNotification: async (title: string, options: Record<string, unknown>) =>
        shown.push({ title, options }),
    },
    clients: { matchAll: async () => windows, openWindow: async (url: string) => opened.push(url) },
  };
  const fetch = async (): Promise<never> => {
    throw new TypeError("Failed to fetch");
  };
  runInNewContext(read("sw.js").toString("utf8"), { self, fetch, URL, Response });
  const dispatch = async (name: string, event: object): Promise<any> => {
    let waited: unknown;
    const wait = (work: unknown): unknown => (waited = work);
    listeners.get(name)?.({ waitUntil: wait, respondWith: wait, ...event });
    return waited;
  };
  return { dispatch, shown, opened };
}

const notice = (payload: object) => ({ data: { json: () => payload } });

it("shows a notice once, and opens the page that it is about", async () => {
  const { dispatch, shown, opened } = startWorker();
  await dispatch(
    "push",
    notice({ id: "evt_1", title: "A draft waits", body: "x", url: "/app/review?draft=1" }),
  );
  expect(shown).toMatchObject([
    { title: "A draft waits", options: { body: "x", tag: "evt_1", data: "/app/review?draft=1" } },
  ]);
  await dispatch("notificationclick", {
    notification: { data: shown[0]?.options["data"], close: () => {} },
  });
  expect(opened).toEqual(["https://posts.example/app/review?draft=1"]);
});

it("goes nowhere but to the page, and shows something whatever came", async () => {
  const { dispatch, shown } = startWorker();
  for (const url of ["https://evil.example/", "//evil.example/app/", null])
    await dispatch("push", notice({ id: "evt_1", title: "x", body: "", url }));
  await dispatch("push", { data: null });
  expect(shown.map(({ options }) => options["data"])).toEqual(Array(4).fill("/app/plan"));
});

it("comes back to a window that shows the same, and leaves others as they are", async () => {
  const focused: string[] = [];
  const windowAt = (url: string) => ({ url, focus: () => void focused.push(url) });
  const there = "https://posts.example/app/trouble";
  const { dispatch, opened } = startWorker([windowAt("https://posts.example/app/write"), windowAt(there)]);
  await dispatch("notificationclick", { notification: { data: "/app/trouble", close: () => {} } });
  expect([focused, opened]).toEqual([[there], []]);
});

it("says that the server cannot be reached, for pages alone", async () => {
  const { dispatch } = startWorker();
  const answer: Response = await dispatch("fetch", { request: { mode: "navigate" } });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("Posthorn cannot be reached");
  expect(answer.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect(await dispatch("fetch", { request: { mode: "cors" } })).toBeUndefined();
});

it("has a manifest whose icons are there, in the sizes that it says", () => {
  const manifest = JSON.parse(read("manifest.webmanifest").toString("utf8"));
  expect(manifest).toMatchObject({ start_url: "/app/plan", scope: "/app/", display: "standalone" });
  for (const { src, sizes } of manifest.icons as { src: string; sizes: string }[]) {
    const png = read(src.replace("/app/", ""));
    expect(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`).toBe(sizes);
  }
});
