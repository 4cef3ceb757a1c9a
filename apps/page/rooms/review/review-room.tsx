import { Room } from "../../ui/room.tsx";

export function ReviewRoom() {
  return <Room title="Review">{null}</Room>;
}
