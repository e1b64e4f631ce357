import type { DocsPage } from './pages.ts';

interface Place {
  readonly href: string;
  /** The title of its page. */
  readonly page: string;
  readonly title: string;
}

export interface Found extends Place {
  readonly excerpt: string;
}

interface Entry {
  readonly place: Place;
  readonly text: string;
  /** In lower case: its title, that with its page's before it, and the text. */
  readonly start: string;
  readonly heading: string;
  readonly body: string;
}

interface Results {
  /** How many sections have all words. */
  readonly total: number;
  /** The best of them. */
  readonly found: readonly Found[];
}

const maxWords = 8;
const maxFound = 10;

/** Searches the sections of pages, which are read on the first search. */
export function createSearch(pages: readonly DocsPage[]): (text: string) => Results {
  let entries: readonly Entry[] | undefined;
  return (text) => {
    entries ??= pages.flatMap(entriesOf);
    const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, maxWords);
    const ranked = entries
      .map((entry) => ({ entry, points: rank(entry, words) }))
      .filter(({ points }) => points > 0)
      .toSorted((one, other) => other.points - one.points);
    return {
      total: ranked.length,
      found: ranked.slice(0, maxFound).map(({ entry }) => ({
        ...entry.place,
        excerpt: excerpt(entry, words),
      })),
    };
  };
}

function entriesOf({ path, title, article }: DocsPage): Entry[] {
  return article().sections.map((section) => {
    const isPage = section.depth === 1;
    const text = section.text.trim();
    const place = {
      href: isPage ? path : `${path}#${section.id}`,
      page: title,
      title: isPage ? title : section.title,
    };
    const start = place.title.toLowerCase();
    return {
      place,
      text,
      start,
      heading: `${title.toLowerCase()} ${start}`,
      body: text.toLowerCase(),
    };
  });
}

/** All words must occur in a section; headings count more than texts. */
function rank({ heading, start, body }: Entry, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    if (heading.includes(word)) sum += start.startsWith(word) ? 12 : 8;
    else if (body.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

/** What stands around the first of these words. */
function excerpt({ text, body }: Entry, words: readonly string[]): string {
  const places = words.map((word) => body.indexOf(word)).filter((place) => place >= 0);
  const place = Math.min(...places);
  if (places.length === 0 || place < 40) return cut(text, 0, 120);
  return `…${cut(text, text.indexOf(' ', place - 30) + 1, place + 90)}`;
}

/** Whole words only. */
function cut(text: string, start: number, end: number): string {
  return end < text.length
    ? `${text.slice(start, end).replace(/\s\S*$/, '')} …`
    : text.slice(start);
}

/** The pages whose paths are most like one that does not exist. */
export function findSimilar(path: string, pages: readonly DocsPage[]): DocsPage[] {
  const asked = pairsOf(path);
  return pages
    .map((page) => {
      const pairs = pairsOf(page.path);
      // The Dice coefficient of pairs of characters.
      return { page, likeness: (2 * asked.intersection(pairs).size) / (asked.size + pairs.size) };
    })
    .filter(({ likeness }) => likeness > 0.4)
    .toSorted((one, other) => other.likeness - one.likeness)
    .slice(0, 3)
    .map(({ page }) => page);
}

function pairsOf(path: string): Set<string> {
  const text = path
    .replace(/^\/docs\/?/, '')
    .replace(/\.\w+$/, '')
    .toLowerCase();
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
}
