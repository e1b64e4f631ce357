import type { Place } from './place.ts';

/** Where bodies come in. */
export const doors = ['REST', 'MCP', 'push', 'mapped push', 'webhook', 'upload', 'forms'] as const;
export type Door = (typeof doors)[number];

/** The status that stands for a connection that was cut before an answer arrived. */
export const cut = 0;

/** A request that is as expensive for its door as one can be, allowed or not. */
export interface Body {
  readonly door: Door;
  /** Unique among all. */
  readonly name: string;
  /** The statuses that it may be answered with. */
  readonly expected: readonly number[];
  /** Sends it. @returns the status, once all that the request began is over */
  send(place: Place): Promise<number>;
}

/** The bodies of a door: their names, statuses and what sends them. */
export function bodiesOf<Request>(
  door: Door,
  send: (place: Place, request: Request) => Promise<number>,
  rows: readonly (readonly [
    name: string,
    expected: readonly number[],
    // Large ones are made when they are sent, and not kept.
    request: (place: Place) => Request,
  ])[],
): Body[] {
  return rows.map(([name, expected, request]) => ({
    door,
    name: `${door}: ${name}`,
    expected,
    send: (place) => send(place, request(place)),
  }));
}
