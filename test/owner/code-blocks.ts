const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

/** The code on a page, by the ids of its blocks. */
export function codeBlocks(page: string): ReadonlyMap<string, string> {
  const blocks = page.matchAll(/<code id="([\w-]+)">(.*?)<\/code>/gs);
  // Without the colours.
  return new Map(
    [...blocks].map(([, id = '', code = '']) => [id, unescape(code.replace(/<[^>]*>/g, ''))]),
  );
}

export function unescape(text: string): string {
  return text.replace(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => characters[name] ?? '');
}
