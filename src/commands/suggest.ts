/** What was probably meant: the nearest of the names, if it takes at most two slips of the fingers. */
export function suggest(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  // Of a short word, two slips leave too little to recognise.
  let allowed = typed.length < 5 ? 1 : 2;
  for (const name of names) {
    const distance = editDistance(typed, name);
    if (distance > allowed) continue;
    best = name;
    allowed = distance - 1;
  }
  return best;
}

/** How many characters are to be inserted, left out, replaced or swapped with the next one. */
function editDistance(from: string, to: string): number {
  // Row by row: what it takes to make the beginnings of `to` of the beginnings of `from`.
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
