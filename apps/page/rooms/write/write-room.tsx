import { Room } from "../../ui/room.tsx";

export function WriteRoom() {
  return <Room title="Write">{null}</Room>;
}
