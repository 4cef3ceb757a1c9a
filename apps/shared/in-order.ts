/** Takes answers in the order in which they were asked for: one that a later one has overtaken is dropped. */
export function inOrder<T>(ask: () => Promise<T>, take: (answer: T) => void): () => Promise<void> {
  let asked = 0;
  let taken = 0;
  return async () => {
    const mine = ++asked;
    const answer = await ask();
    if (mine < taken) return;
    taken = mine;
    take(answer);
  };
}
