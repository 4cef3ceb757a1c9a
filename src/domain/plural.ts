/** A count with its noun: `1 post`, `2 posts`. `several`: where it is no s that makes it several. */
export function plural(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
