import { useEffect, useState } from "preact/hooks";
import type { Account } from "../../../../src/domain/accounts/account.ts";
import { findAccount, loadAccounts } from "../../data/shared-data.ts";

/**
 * What a form of a channel began with. Where the server has another by now, it is taken in while nothing is changed
 * here, and asked about before it would be replaced.
 */
export function useBase<T>(account: Account, read: (account: Account) => T, put: (value: T) => void) {
  const there = read(account);
  const [base, setBase] = useState(there);
  const [isClash, setIsClash] = useState(false);
  const isOther = (value: T): boolean => JSON.stringify(value) !== JSON.stringify(base);
  const take = (value: T): void => {
    setBase(value);
    setIsClash(false);
    put(value);
  };
  return {
    base,
    isClash,
    /** Follows the server while `isChanged` is not. */
    useFollow(isChanged: boolean): void {
      const key = JSON.stringify(there);
      useEffect(() => {
        if (!isChanged && isOther(there)) take(there);
      }, [key]);
    },
    /** Asks the server anew. Answers whether what is changed here may be saved; else the person is asked. */
    async isCurrent(): Promise<boolean> {
      await loadAccounts();
      const now = findAccount(account.id);
      const isClash = now !== null && isOther(read(now));
      setIsClash(isClash);
      return !isClash;
    },
    takeTheirs: () => take(there),
    /** Lets this one replace the other one. */
    keepMine(): void {
      setBase(there);
      setIsClash(false);
    },
    /** This was saved. */
    saved(value: T): void {
      setBase(value);
    },
  };
}
