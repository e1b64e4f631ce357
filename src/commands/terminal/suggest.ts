/** The closest of the names, if it is at most two edits away; of several, the first. */
export function suggest(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  // Two edits of a short word would match almost anything.
  let allowed = typed.length < 5 ? 1 : 2;
  for (const name of names) {
    const distance = editDistance(typed, name);
    if (distance > allowed) continue;
    best = name;
    allowed = distance - 1;
  }
  return best;
}

/** How many characters to insert, delete, replace or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  // Row by row: the distances between every prefix of `from` and every prefix of `to`.
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          (above[column] as number) + 1,
          (current[column - 1] as number) + 1,
          (above[column - 1] as number) + (isSame ? 0 : 1),
          isSwapped ? (before[column - 2] as number) + 1 : Infinity,
        ),
      );
    }
    [before, above] = [above, current];
  }
  return above[to.length] as number;
}
