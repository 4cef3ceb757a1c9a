/**
 * The page runs in a browser, so the browser's clock is the one it has; it only marks the day that is today.
 */
export function now(): number {
  return Date.now();
}
