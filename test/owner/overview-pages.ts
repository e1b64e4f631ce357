import type { TestShop, World } from '../support/world.ts';
import { signedInOwner } from './visitor.ts';

/** The figures of a page, as formatted. */
export function figuresOf(text: string): string[] {
  return [...text.matchAll(/data-figure="\w+">([^<]*)</g)].map(([, value = '']) =>
    value.replace(/\u00A0/g, ' '),
  );
}

/** A signed-in owner of the shop, and how they open its overview. */
export async function overviewOwner(world: World, shop: TestShop) {
  const { visitor } = await signedInOwner({ ...world, shop });
  const open = (query = '', language = 'en-US') =>
    visitor.get(`/app/shops/${shop.id}${query}`, { 'accept-language': language });
  return { visitor, open };
}
