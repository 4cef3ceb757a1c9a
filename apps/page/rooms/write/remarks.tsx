import { channelName } from "../../data/shared-data.ts";
import { grouped, type Remark } from "./remarks.ts";
import { listed } from "../../../shared/texts.ts";

/** What the channels say of a field, below it. The channels are named where there are several. */
export function Remarks({
  remarks,
  isNamed = true,
}: {
  readonly remarks: readonly Remark[];
  readonly isNamed?: boolean;
}) {
  if (remarks.length === 0) return null;
  return (
    <ul class="remarks">
      {grouped(remarks).map(({ accountIds, isError, text }) => (
        <li key={text} class={isError ? "wrong" : "warned"}>
          {isNamed && <strong>{listed(accountIds.map(channelName))}: </strong>}
          {text}
        </li>
      ))}
    </ul>
  );
}
