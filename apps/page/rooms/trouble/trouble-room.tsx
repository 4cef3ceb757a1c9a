import { Room } from "../../ui/room.tsx";

export function TroubleRoom() {
  return <Room title="Trouble">{null}</Room>;
}
