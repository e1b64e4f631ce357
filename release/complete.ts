type Json = Readonly<Record<string, unknown>>;

/**
 * Refuses a package that lacks what its package.json names, such as files that were not built.
 * @param packed the paths of its files
 * @throws Error that names them
 */
export function requireComplete(manifest: Json, packed: readonly string[]): void {
  const { name, files = [] } = manifest as { name: string; files?: readonly string[] };
  const has = (place: string) =>
    packed.some((file) => file === place || file.startsWith(`${place}/`));
  const named = ['main', 'types', 'bin', 'exports'].flatMap((field) => pathsIn(manifest[field]));
  const needed = [...named, ...files.filter((each) => !each.startsWith('!'))];
  const missing = [...new Set(needed)].filter((each) => !has(each));
  if (missing.length === 0) return;
  throw new Error(
    `The package ${name} would lack ${missing.join(', ')}, which its package.json names. Build it, or correct the package.json.`,
  );
}

/** The paths in a field, which may be a path, or an object of them. */
function pathsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value.replace(/^\.\//, '')];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsIn) : [];
}
