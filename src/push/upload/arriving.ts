import type { Refusal } from './receive.ts';

/** They hold no more than a little memory and a file each, but what they write fills the disk. */
const maxArriving = 16;
const maxOfOwner = 2;
/** An owner's second file leaves so many for owners who have none arriving. */
const keptForOthers = 8;

interface Arrival {
  readonly ownerId: string;
  /** Ends it. */
  readonly replace: () => void;
}

/** The files that arrive in this process: one of a shop, and few of an owner. */
export class ArrivingFiles {
  readonly #byShop = new Map<number, Arrival>();

  /**
   * Makes room for a file. An earlier one of the shop ends: it may be stalled, and its owner has begun again.
   * @returns why there is none; undefined if there is
   */
  add(shopId: number, arrival: Arrival): Refusal | undefined {
    const earlier = this.#byShop.get(shopId);
    const others = [...this.#byShop.values()].filter((each) => each !== earlier);
    const { length: own } = others.filter(({ ownerId }) => ownerId === arrival.ownerId);
    if (own >= maxOfOwner) return { kind: 'ownersLimit' };
    const max = own > 0 ? maxArriving - keptForOthers : maxArriving;
    if (others.length >= max) return { kind: 'serversLimit' };
    earlier?.replace();
    this.#byShop.set(shopId, arrival);
    return undefined;
  }

  remove(shopId: number, arrival: Arrival): void {
    if (this.#byShop.get(shopId) === arrival) this.#byShop.delete(shopId);
  }
}
