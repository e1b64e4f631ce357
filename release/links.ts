import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const pattern =
  /<img src="(?<source>[^"]+)"[^>]*>|(?<mark>!?)\[(?<text>(?:[^[\]]|\[[^\]]*\])*)\]\((?<target>[^)\s]+)\)/g;

/**
 * Turns links of Markdown files to files that are not in the package into their text, and removes such images.
 * The addresses of these files are not known here, and a relative one would lead nowhere.
 * @param packed the files of the package
 */
export function removeDeadLinks(folder: string, packed: readonly string[]): void {
  for (const file of packed.filter((each) => each.endsWith('.md'))) {
    const place = path.join(folder, file);
    const text = readFileSync(place, 'utf8').replace(pattern, (link, ...rest) => {
      const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
      const { source, target = source ?? '', mark, text: label = '' } = groups;
      if (/^(?:[a-z]+:|#)/.test(target) || isPacked(file, target, packed)) return link;
      return mark === '' ? label : '';
    });
    writeFileSync(place, text);
  }
}

/** Whether a link of a file leads to another, or to a folder that has one. */
function isPacked(file: string, target: string, packed: readonly string[]): boolean {
  const found = path.posix.join(path.posix.dirname(file), target.replace(/#.*/, ''));
  return packed.some((each) => each === found || each.startsWith(`${found.replace(/\/$/, '')}/`));
}
