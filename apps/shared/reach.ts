import { signal } from "@preact/signals";

export const SERVER_SILENT = "Posthorn does not answer. Check that it runs, then try again.";
export const DEVICE_OFFLINE = "You are offline. Connect this device to its network, then try again.";

/** Why the server does not answer now; null: it does. */
export const offline = signal<string | null>(null);

/** Whether the sentence only says that no answer came. It is obsolete once one comes. */
export function isUnreached(sentence: string): boolean {
  return sentence.includes(SERVER_SILENT) || sentence.includes(DEVICE_OFFLINE);
}
