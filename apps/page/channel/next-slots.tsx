import { nearTime } from "../../shared/when.ts";
import { useLoad } from "../data/load.ts";
import { channelName } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";

/** The times that channels would take now by their slots, where that is known. */
export function NextSlots({ accountIds }: { readonly accountIds: readonly string[] }) {
  const { data } = useLoad(
    (signal) => Promise.all(accountIds.map(async (id) => ({ id, at: await nextSlot(id, signal) }))),
    accountIds.join(),
  );
  const known = data?.filter((one) => one.at !== null) ?? [];
  if (known.length === 0) return null;
  return (
    <div class="muted">
      <p>Now that is, unless it is taken meanwhile:</p>
      <ul class="next-slots">
        {known.map(({ id, at }) => (
          <li key={id}>
            {nearTime(Date.parse(at ?? ""))} on <bdi>{channelName(id)}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

async function nextSlot(accountId: string, signal: AbortSignal): Promise<string | null> {
  const { freeSlots } = await call("show_calendar", { accountId: [accountId], limit: 1 }, { signal });
  return freeSlots[0]?.at ?? null;
}
