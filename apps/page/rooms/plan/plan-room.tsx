import { Room } from "../../ui/room.tsx";

export function PlanRoom() {
  return <Room title="Plan">{null}</Room>;
}
