export const LIST = "/app/channels";
export const TO_CONNECT = `${LIST}?connect=`;

export function pathOfChannel(id: string): string {
  return `${LIST}?account=${encodeURIComponent(id)}`;
}

/** `accountId`: the channel that is to be reconnected. */
export function pathToConnect(provider: string, accountId?: string): string {
  const again = accountId === undefined ? "" : `&account=${encodeURIComponent(accountId)}`;
  return `${TO_CONNECT}${encodeURIComponent(provider)}${again}`;
}
