/** The records of a CSV file by the names of its columns. */
export function csvRows(text: string): Record<string, string>[] {
  const [heads = [], ...rows] = text
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
      ),
    );
  return rows.map((row) =>
    Object.fromEntries(heads.map((head, index) => [head, row[index] ?? ''])),
  );
}
