import { Room } from "../../ui/room.tsx";

export function ChannelsRoom() {
  return <Room title="Channels">{null}</Room>;
}
