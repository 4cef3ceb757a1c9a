/**
 * The text of a note as Misskey's readers see it: the markup of MFM that texts meet by chance is rendered, and
 * `<plain>` shows what is in it as it is.
 */
export function shownOf(text: string): string {
  return text
    .replace(/^> ?/gm, "")
    .split(/<plain>(.*?)<\/plain>/s)
    .map((piece, at) => (at % 2 === 1 ? piece : renderBetween(piece)))
    .join("");
}

/** Addresses, hashtags and mentions are no markup. */
function renderBetween(text: string): string {
  if (/\[[^\]\n]+\]\(https?:/.test(text)) return render(text);
  const pieces = text.split(/((?:https?:\/\/|#|@)[^\s<>()[\]]+)/);
  return pieces.map((piece, at) => (at % 2 === 1 ? piece : render(piece))).join("");
}

function render(text: string): string {
  return text
    .replace(/<(b|i|s|small|center)>(.*?)<\/\1>/gs, "$2")
    .replace(/\*\*([^*\n]+)\*\*/g, "$1")
    .replace(/(?<![a-z0-9])([*_])([a-z0-9 \t]+)\1/gi, "$2")
    .replace(/~~([^~\n]+)~~/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1")
    .replace(/\\\((.+?)\\\)/g, "$1")
    .replace(/\$\[[a-z0-9.,=]+ (.+?)\]/g, "$1")
    .replace(/\??\[([^\]\n]+)\]\(https?:[^)\s]+\)/g, "$1")
    .replace(/:([a-z0-9_+-]+):/gi, "(emoji $1)");
}
