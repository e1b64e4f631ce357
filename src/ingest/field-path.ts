/** Where a value stands in a JSON document: `lines[0].price`; empty for the whole document. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      const name = String(part);
      return /^\w+$/.test(name) ? `.${name}` : `["${name}"]`;
    })
    .join('')
    .replace(/^\./, '');
}
