import type { Response } from "express";

/**
 * Answers with JSON, but unlike `response.json` without an ETag: nobody may keep these answers, so a hash of
 * each would be for nothing.
 */
export function sendJson(response: Response, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.set("Content-Type", "application/json").set("Content-Length", String(body.length)).end(body);
}
