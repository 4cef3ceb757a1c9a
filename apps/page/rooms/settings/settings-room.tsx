import { Room } from "../../ui/room.tsx";

export function SettingsRoom() {
  return <Room title="Settings">{null}</Room>;
}
