import { BlockList, isIP } from 'node:net';

/** Whether a text is an IP address with an optional prefix length. /0 is rejected, since it would be everyone. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** By the lists that they were made of, because making one costs more than asking it. */
const made = new WeakMap<readonly string[], BlockList>();

/**
 * @param networks as `isNetwork` accepts them
 * @param address false unless it is an IP address
 */
export function contains(networks: readonly string[], address: string): boolean {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  if (family === 0) return false;
  let list = made.get(networks);
  if (!list) made.set(networks, (list = blockListOf(networks)));
  return list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of networks) {
    const [address = '', bits] = each.replace(/%[^/]+/, '').split('/');
    const isV6 = isIP(address) === 6;
    list.addSubnet(address, Number(bits ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

const maxNetworks = 50;

/** The networks of a list that somebody typed, with commas or spaces in between. */
export function splitNetworks(typed: string): string[] {
  return [...new Set(typed.split(/[\s,]+/).filter((each) => each !== ''))];
}

/** @returns what is wrong with a list that somebody typed; nothing at all allows all networks */
export function networkProblem(typed: string): string | undefined {
  const networks = splitNetworks(typed);
  if (networks.length === 0 && typed.trim() !== '') {
    return 'Give a network such as 203.0.113.0/24, and commas only between several. Give nothing to allow all.';
  }
  if (networks.length > maxNetworks) return `Give at most ${maxNetworks} networks.`;
  const wrong = networks.find((each) => !isNetwork(each) || each.includes('%'));
  return wrong === undefined
    ? undefined
    : `“${wrong}” is not an IP address or network such as 203.0.113.7 or 203.0.113.0/24. Give none to allow all.`;
}
