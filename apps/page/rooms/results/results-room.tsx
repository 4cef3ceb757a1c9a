import { Room } from "../../ui/room.tsx";

export function ResultsRoom() {
  return <Room title="Results">{null}</Room>;
}
