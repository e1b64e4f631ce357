/* The command line with one more line in the registry of platforms. */
import { platforms } from '../../src/platforms/registry.ts';
import { stub } from './stub.ts';

platforms.push(stub);
await import('../../src/cli.ts');
