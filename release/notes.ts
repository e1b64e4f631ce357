/**
 * The notes of a version: what the changelog says of it.
 * @throws Error if it says nothing, or has changes that belong to no version
 */
export function notesOf(changelog: string, version: string): string {
  const unreleased = /^## Unreleased\n(.*?)(?=^## |(?![^]))/ms.exec(changelog)?.[1] ?? '';
  if (unreleased.trim() !== '') {
    throw new Error(
      `CHANGELOG.md has changes under "Unreleased": head them with "## ${version} - YYYY-MM-DD".`,
    );
  }
  const [, date, changes = ''] =
    new RegExp(
      `^## ${RegExp.escape(version)} - (\\d{4}-\\d{2}-\\d{2})\\n(.*?)(?=^## |(?![^]))`,
      'ms',
    ).exec(changelog) ?? [];
  if (changes.trim() === '') {
    throw new Error(
      `CHANGELOG.md says nothing of ${version}: head its changes with "## ${version} - YYYY-MM-DD".`,
    );
  }
  return `# Retention Data Service ${version}\n\nReleased ${date}.\n\n${changes.trim()}\n`;
}
