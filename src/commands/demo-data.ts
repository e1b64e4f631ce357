import { systemClock } from '../clock.ts';
import { type ShopOptions, generateShop } from '../demo/generate.ts';
import { UsageError } from '../errors.ts';
import { minorDigitsOf } from '../money.ts';
import {
  type Value,
  defineCommand,
  exitStatus,
  currency,
  optional,
  required,
  whole,
  withDefault,
} from './framework/command.ts';
import { printAll } from './framework/io.ts';

const chunkLength = 64 * 1024;
const maxCount = 999_999_999;

/** In epoch milliseconds. */
const time: Value<number> = {
  hint: 'TIME',
  read(typed, name) {
    const at = Date.parse(typed);
    if (Number.isNaN(at)) throw new UsageError(`${name} must be an ISO 8601 time.`);
    return at;
  },
};

export const demoDataCommand = defineCommand({
  name: 'demo-data',
  about: 'writes the records of a generated shop to standard output',
  options: {
    subscriptions: required(whole('N', 0, maxCount), 'how many it has'),
    seed: withDefault(whole('S', 0, maxCount), '1', 'the same seed gives the same shop'),
    currency: withDefault(currency, 'USD', 'an ISO 4217 code'),
    until: optional(
      time,
      'end of its two years of history, ISO 8601 (now); imports refuse future records',
    ),
  },
  async run({ until = systemClock.now(), ...given }, { io }) {
    const minorDigits = minorDigitsOf(given.currency) as number;
    await printAll(io, chunksOf({ ...given, endAt: until, minorDigits }));
    return exitStatus.done;
  },
});

function* chunksOf(options: ShopOptions): Generator<string> {
  let chunk = '';
  for (const record of generateShop(options)) {
    chunk += `${JSON.stringify(record)}\n`;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
