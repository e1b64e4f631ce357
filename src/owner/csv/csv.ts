import { csvFile, type Cell, pagedRows as rowsOfPages } from '../framework/csv.ts';

export { csvFile, type Cell };

/** @param read a page of the list from a cursor on */
export function pagedRows<Found extends { readonly nextCursor: string | null }>(
  read: (cursor?: string) => Promise<Found>,
  rowsOf: (page: Found) => readonly (readonly Cell[])[] | Promise<readonly (readonly Cell[])[]>,
) {
  return rowsOfPages(
    async (cursor?: string) => {
      const page = await read(cursor);
      return { cells: await rowsOf(page), next: page.nextCursor ?? undefined };
    },
    ({ cells }) => cells,
  );
}
