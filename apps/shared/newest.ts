interface Row {
  readonly id: string;
  readonly updatedAt: string;
}

/** What is known of it where that is newer, else as it is. */
export function newestOf<T extends Row>(one: T, known: ReadonlyMap<string, T>): T {
  const other = known.get(one.id);
  return other !== undefined && Date.parse(other.updatedAt) > Date.parse(one.updatedAt) ? other : one;
}
