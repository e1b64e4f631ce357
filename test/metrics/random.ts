/** Pseudo-random numbers from a seed. */
export interface Random {
  /** From 0, less than `below`. */
  integer(below: number): number;
  oneOf<T>(choices: readonly T[]): T;
  chance(share: number): boolean;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number) => Math.floor(next() * below);
  return {
    integer,
    oneOf: <T>(choices: readonly T[]) => choices[integer(choices.length)] as T,
    chance: (share) => next() < share,
  };
}
