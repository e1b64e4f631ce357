interface Named {
  readonly name: string;
}

/** Those whose names contain one of the command's arguments; all of them without arguments. */
export function chosen<Item extends Named>(items: readonly Item[]): Item[] {
  const only = process.argv.slice(2);
  return items.filter(({ name }) => only.length === 0 || only.some((each) => name.includes(each)));
}

export function listNames(items: readonly Named[]): string {
  return items.map(({ name }) => name).join('; ');
}
