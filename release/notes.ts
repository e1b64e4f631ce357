/**
 * The notes of a version: what the changelog says of it.
 * @throws Error if it says nothing
 */
export function notesOf(changelog: string, version: string): string {
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
