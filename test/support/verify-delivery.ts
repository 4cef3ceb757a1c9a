import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import type { Delivery } from "./webhook-receiver.ts";

/**
 * What the official library reads in a delivery. It compares the timestamp with the machine's clock, which is
 * set for this call only.
 */
export function verifyDelivery(delivery: Delivery, secret: string, now: number): unknown {
  vi.useFakeTimers({ toFake: ["Date"], now });
  try {
    return new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}
