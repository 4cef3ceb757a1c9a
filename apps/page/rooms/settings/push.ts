import { send } from "../../data/wire.ts";

/** What the browser can do about messages on this device. */
export type PushState = "cannot" | "denied" | "off" | "on";

const SCRIPT = "/app/sw.js";
const SCOPE = "/app/";

export async function readPushState(): Promise<PushState> {
  if (!("serviceWorker" in navigator) || !("PushManager" in window)) return "cannot";
  if (Notification.permission === "denied") return "denied";
  const subscription = await findSubscription();
  return subscription === null ? "off" : "on";
}

/** Asks for the browser's permission. Rejects where the browser or the server refuses. */
export async function turnPushOn(publicKey: string, name: string): Promise<PushState> {
  if ((await Notification.requestPermission()) !== "granted") return readPushState();
  await navigator.serviceWorker.register(SCRIPT, { scope: SCOPE });
  const { pushManager } = await navigator.serviceWorker.ready;
  const subscription = await pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: bytesOf(publicKey),
  });
  const { endpoint, keys = {} } = subscription.toJSON();
  await send("/push", { method: "POST", body: { endpoint, keys, name } });
  return "on";
}

export async function turnPushOff(): Promise<PushState> {
  const subscription = await findSubscription();
  if (subscription === null) return "off";
  await send("/push", { method: "DELETE", body: { endpoint: subscription.endpoint } });
  await subscription.unsubscribe();
  return "off";
}

async function findSubscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/** Of base64url, as servers give their keys. */
export function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
