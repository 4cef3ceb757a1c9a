import { accounts, channelName, findAccount, platformTitle } from "../../data/shared-data.ts";

/** A channel's name, with its platform where another one is called the same. */
export function fullName(accountId: string): string {
  const name = channelName(accountId);
  const account = findAccount(accountId);
  const namesakes = (accounts.value ?? []).filter((one) => one.name === name);
  return account === null || namesakes.length < 2 ? name : `${name} on ${platformTitle(account.provider)}`;
}
