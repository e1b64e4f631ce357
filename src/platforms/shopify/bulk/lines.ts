import { isObject } from '../../../json.ts';
import type { Line } from '../../../ingest/lines.ts';
import { type Node, type ShopMoney, Refusal } from '../mapping/fields.ts';
import { type Gid, leadingGid, numberOf, parseGid } from '../api/ids.ts';
import { readAttempt } from '../mapping/attempts.ts';
import { readContract, readGroup, readLine, readSellingPlan } from '../mapping/nodes.ts';

/** A kind of node in a bulk result. */
export interface Kind {
  /** The type in its GIDs. */
  readonly type: string;
  /** The kind that its `__parentId` refers to; undefined for a top-level node. */
  readonly parent: string | undefined;
  /** The name under which refused lines are counted. */
  readonly countsAs: string;
  read(key: string, node: Node, shop: ShopMoney): object;
}

/** Rows refer to kinds by their index in this list. */
export const kinds: readonly Kind[] = [
  {
    type: 'SubscriptionContract',
    parent: undefined,
    countsAs: 'subscription',
    read: readContract,
  },
  {
    type: 'SubscriptionLine',
    parent: 'SubscriptionContract',
    countsAs: 'line',
    read: readLine,
  },
  {
    type: 'SubscriptionBillingAttempt',
    parent: 'SubscriptionContract',
    countsAs: 'payment',
    read: readAttempt,
  },
  { type: 'SellingPlanGroup', parent: undefined, countsAs: 'group', read: readGroup },
  { type: 'SellingPlan', parent: 'SellingPlanGroup', countsAs: 'plan', read: readSellingPlan },
];

/** What was read from a line of a bulk result. */
export type Reading =
  | {
      readonly kind: Kind;
      readonly gid: Gid;
      /** The number of the contract or group that the node is, or belongs to. */
      readonly family: number;
      /** Null if there is a problem. */
      readonly read: object | null;
      readonly problem?: string;
    }
  | {
      /** Undefined if it cannot be determined. */
      readonly kind: Kind | undefined;
      /** Identifies the line in messages; empty if it has no GID. */
      readonly shownGid: string;
      readonly problem: string;
    };

const kindsByType = new Map(kinds.map((kind) => [kind.type, kind]));
const gidFormat = 'an id of the form gid://shopify/TYPE/ID';

export function readBulkLine(line: Line, shop: ShopMoney): Reading {
  const unreadable = (problem: string): Reading => ({
    kind: undefined,
    shownGid: leadingGid(line.text),
    problem,
  });
  if (line.problem !== undefined) return unreadable(line.problem);
  let node: unknown = line.value;
  try {
    node ??= JSON.parse(line.text);
  } catch {
    return unreadable('the line is not JSON');
  }
  if (!isObject(node)) return unreadable('the line is not a JSON object');
  const gid = parseGid(node['id']);
  if (!gid) return unreadable(`the line must have ${gidFormat}`);
  const kind = kindsByType.get(gid.type);
  const shownGid = node['id'] as string;
  if (!kind) return { kind, shownGid, problem: `nodes of the type ${gid.type} are not imported` };
  const family = familyOf(kind, gid, node);
  if (typeof family === 'string') return { kind, shownGid, problem: family };
  return { kind, gid, family, ...readNode(kind, gid, node, shop) };
}

/** The number of the contract or group, or what is wrong with the reference to it. */
function familyOf(kind: Kind, gid: Gid, node: Node): number | string {
  const parentId = node['__parentId'] ?? undefined;
  if (kind.parent === undefined) {
    if (parentId !== undefined) return `a ${kind.type} must have no __parentId`;
    return numberOf(gid.key) ?? 'id must end in a number from 1 to 9007199254740991';
  }
  if (parentId === undefined) return '__parentId is missing';
  const parent = parseGid(parentId);
  if (!parent) return `__parentId must be ${gidFormat}`;
  if (parent.type !== kind.parent) {
    return `__parentId is of the type ${parent.type}; a ${kind.type} belongs to a ${kind.parent}`;
  }
  return numberOf(parent.key) ?? '__parentId must end in a number from 1 to 9007199254740991';
}

function readNode(kind: Kind, gid: Gid, node: Node, shop: ShopMoney) {
  try {
    return { read: kind.read(gid.key, node, shop) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { read: null, problem: error.message };
  }
}
