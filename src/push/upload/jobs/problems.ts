/* Why a file is not imported, in words for its owner. */

export const failedHere =
  'Something failed on our side. Try again; if it keeps failing, tell the operator of this service.';

export function tooMuchMemory(fileName: string): string {
  return `${fileName} needs more memory than one file may take. Split it into smaller files, or leave out columns that are not about subscriptions.`;
}

export function tooMuchTime(fileName: string): string {
  return `${fileName} could not be read in time. Split it into smaller files.`;
}
