import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../clock.ts';
import { type ShopOptions, generateShop } from '../demo/generate.ts';
import { UsageError } from '../errors.ts';
import { minorDigitsOf } from '../money.ts';
import { type Command, exitStatus, isReaderGone, requiredOption } from './command.ts';

const chunkLength = 64 * 1024;

export const demoDataCommand: Command = {
  name: 'demo-data',
  synopsis: '--subscriptions N [--seed S] [--currency CUR] [--until TIME]',
  summary: 'writes the records of a generated shop to standard output',
  details: [
    '--seed      the same seed gives the same shop (1)',
    '--currency  an ISO 4217 code (USD)',
    '--until     end of its two years of history, ISO 8601 (now); imports refuse future records',
  ],
  options: {
    subscriptions: { type: 'string' },
    seed: { type: 'string', default: '1' },
    currency: { type: 'string', default: 'USD' },
    until: { type: 'string' },
  },
  async run(context) {
    const until = context.options['until'];
    const endAt = typeof until === 'string' ? Date.parse(until) : systemClock.now();
    if (Number.isNaN(endAt)) throw new UsageError('--until must be an ISO 8601 time.');
    const currency = requiredOption(context, 'currency').toUpperCase();
    const minorDigits = minorDigitsOf(currency);
    if (minorDigits === undefined) {
      throw new UsageError(`--currency must be an ISO 4217 code such as USD, not "${currency}".`);
    }
    await write({
      subscriptions: parseCount(requiredOption(context, 'subscriptions'), '--subscriptions'),
      seed: parseCount(requiredOption(context, 'seed'), '--seed'),
      endAt,
      currency,
      minorDigits,
    });
    return exitStatus.done;
  },
};

async function write(options: ShopOptions): Promise<void> {
  try {
    await pipeline(Readable.from(chunksOf(options)), process.stdout, { end: false });
  } catch (error) {
    // A reader such as `head` has read enough.
    if (!isReaderGone(error)) throw error;
  }
}

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

function parseCount(text: string, option: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(count))
    throw new UsageError(`${option} must be a whole number below 1,000,000,000.`);
  return count;
}
