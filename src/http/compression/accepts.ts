/** Whether a header that lists what a client accepts has this name, unless with quality 0. */
export function accepts(header: string | undefined, name: string): boolean {
  return qualityOf(header, name) > 0;
}

/** Whether a client wants a page rather than JSON: browsers name HTML, programs name JSON or nothing. */
export function prefersPage(header: string | undefined): boolean {
  return qualityOf(header, 'text/html') > qualityOf(header, 'application/json');
}

/** The quality of a name in a list, 1 by default; 0 if it is not listed. */
function qualityOf(header: string | undefined, name: string): number {
  const qualities = (header ?? '').split(',').map((item) => {
    const [listed, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (listed !== name) return 0;
    const [quality = '1'] = parameters.flatMap((each) => /^q=([\d.]+)$/.exec(each)?.[1] ?? []);
    return Number(quality);
  });
  return Math.max(...qualities);
}
