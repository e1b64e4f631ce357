/** The text of the cells in a page's only table. */
export function rowsOf(page: string): string[][] {
  const body = /<tbody>(.*)<\/tbody>/s.exec(page)?.[1] ?? '';
  const [, ...rows] = body.split(/<tr\b/);
  return rows.map((row) =>
    row
      .split(/<t[hd]\b/)
      .slice(1)
      .map((cell) => plain(`<${cell}`)),
  );
}

const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

/** The text of the markup. */
export function plain(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => characters[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The sentences that answer a page's question. */
export function answerOf(page: string): string {
  return plain(/<p class="answer">.*?<\/p>/s.exec(page)?.[0] ?? '');
}

/** A page without what is different in each: the tokens of its forms. */
export function withoutTokens(page = ''): string {
  return page.replace(/name="token" value="[^"]*"/g, 'name="token"');
}
